// The GPUs among which packs of unequal sequences are distributed: the cp x dp ranks of a pipeline
// rank form one pool. A tp group counts as one GPU.
#pragma once

#include <set>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/shares/replica_kind.hpp"

namespace windtunnel {

int pool_gpus(const Job& job);

// Returns the numbers of GPUs that can share a sequence, ascending.
std::vector<int> degrees_of(const Job& job);

// The next number of packs that a pipeline can process: interleaved chunks need whole groups.
int whole_groups(const Job& job, int packs);

// Returns how many GPUs exchange tokens with each other's experts in every layer.
int expert_gpus(const Job& job);

// Whether all GPUs must make equally many passes, because they synchronise in each pass.
bool in_step(const Job& job);

// Returns indices of the Cluster::pools that the job's ranks are on; -1: all nodes are alike.
std::set<int> pools_in_use(const Job& job);
int slowest_pool(const Job& job);

// Returns the kind of all replicas, as if they were on these pools. `pools`: [pipeline rank].
ReplicaKind kind_on(const Job& job, std::vector<int> pools);
// Returns the job as the GPUs of one of pools_in_use() see it.
Job seen_from(const Job& job, int pool);

}  // namespace windtunnel
