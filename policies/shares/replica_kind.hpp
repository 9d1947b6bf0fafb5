// Which data-parallel replicas of a job on unlike nodes (Cluster::pools) compute alike, and how
// many sequences each gets. Whale (Jia et al. 2022, arXiv 2011.09208) and Cephalo (Guo et al. 2024,
// arXiv 2411.01075) divide the batch in proportion to what each GPU computes in the same time.
#pragma once

#include <span>
#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

// Consecutive replicas whose pipelines are on nodes of the same pools.
struct ReplicaKind {
  int first = 0;
  int replicas = 1;
  // [pipeline rank] Its pool; if ranks synchronise in every layer, this is the slowest one's.
  std::vector<int> pools;
  int microbatches = 1;  // of each replica
  int micro = 1;         // sequences in each micro-batch
};

// Returns for each pipeline rank the slowest pool among its `ranks` ranks from `first_member` on.
std::vector<int> pools_of_block(const Job& job, int first_member, int ranks);

// Returns kinds in the order of replicas, with even shares of the batch; without pools only one.
std::vector<ReplicaKind> replica_kinds(const Job& job);

// Divides the batch among the kinds by Batch::shares. `microbatch_s`: [kind] time of a micro-batch
// of Batch::micro sequences on its slowest stage. Normally micro-batches have equal sizes, and
// kinds differ in their number. If each communicates gradients or weights (ZeRO-2, ZeRO-3), the
// numbers are equal and the sizes differ. Throws Error if the batch cannot be divided so.
void share_batch(const Job& job, std::span<const double> microbatch_s,
                 std::vector<ReplicaKind>& kinds);

// Returns the pool whose GPU has the lower peak; -1 stands for no pool yet.
int slower_pool(const Job& job, int a, int b);

// Returns the job as ranks of the kind's replicas on nodes of the pool see it, with their kernels
// and the groups that they are in. Pool -1: with what all nodes share, and all groups.
Job job_of_kind(const Job& job, const ReplicaKind& kind, int pool);

// Returns the numbers n[i] >= 1 with sum(weights[i] * n[i]) == total that minimise max(unit_s[i] *
// (n[i] + lead)); empty: there are none. Searches at most `most_tries` combinations.
std::vector<int> balanced_numbers(std::span<const int> weights, std::span<const double> unit_s,
                                  double lead, int total, int most_tries = 1000000);

}  // namespace windtunnel
