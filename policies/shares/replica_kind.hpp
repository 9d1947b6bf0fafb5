// Which data-parallel replicas of a job on unlike nodes (Cluster::pools) compute alike, and how
// many sequences each of them takes. Whale (Jia et al. 2022, arXiv 2011.09208) and Cephalo (Guo et
// al. 2024, arXiv 2411.01075) share the batch out by what each GPU computes in the same time.
#pragma once

#include <span>
#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

// Consecutive replicas whose pipelines stand on nodes of the same pools.
struct ReplicaKind {
  int first = 0;
  int replicas = 1;
  std::vector<int> pools;  // [pipeline rank]; ranks that wait for each other in every layer have
                           // the pool of the slowest
  int microbatches = 1;    // of each replica
  int micro = 1;           // sequences of each
};

// [pipeline rank] The slowest pool that any of its `ranks` ranks from `first_member` on stands on.
std::vector<int> pools_of_block(const Job& job, int first_member, int ranks);

// In the order of the replicas, all with an even share of the batch; without pools one.
std::vector<ReplicaKind> replica_kinds(const Job& job);

// Shares out the batch as Batch::shares says. `microbatch_s`: [kind] what one micro-batch of
// Batch::micro sequences takes on its slowest stage. All have micro-batches of as many sequences
// and their number differs; where gradients or weights travel for each of them (ZeRO-2, ZeRO-3) all
// have as many, and their sequences differ. Throws Error where the batch does not divide so.
void share_batch(const Job& job, std::span<const double> microbatch_s,
                 std::vector<ReplicaKind>& kinds);

// That of the GPU with the lower peak; -1: no pool yet.
int slower_pool(const Job& job, int a, int b);

// The job as the ranks see it that a replica of the kind has on nodes of the pool: their kernels,
// and the groups that they are in. -1: what all nodes have, all groups.
Job job_of_kind(const Job& job, const ReplicaKind& kind, int pool);

// The numbers n[i] >= 1 with sum(weights[i] * n[i]) == total of which max(unit_s[i] * (n[i] +
// lead)) is least; empty: there are none. Of `most_tries` combinations the best.
std::vector<int> balanced_numbers(std::span<const int> weights, std::span<const double> unit_s,
                                  double lead, int total, int most_tries = 1000000);

}  // namespace windtunnel
