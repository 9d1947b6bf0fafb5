// The GPUs among which packs of unequal sequences are distributed: the cp x dp ranks of a pipeline
// rank, as one pool. A tp group counts as one GPU.
#pragma once

#include <set>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/shares/replica_kind.hpp"

namespace windtunnel {

int pool_gpus(const Job& job);

// The numbers of GPUs that can share a sequence, ascending.
std::vector<int> degrees_of(const Job& job);

// The next number of packs that a pipeline can process: interleaved chunks need whole groups.
int whole_groups(const Job& job, int packs);

// How many GPUs exchange tokens with each other's experts in every layer.
int expert_gpus(const Job& job);

// Whether all GPUs must make equally many passes, because they synchronise in each.
bool in_step(const Job& job);

// Indices of Cluster::pools that the job's ranks are on; only -1: all nodes are alike.
std::set<int> pools_in_use(const Job& job);
int slowest_pool(const Job& job);

// All replicas, as if they were on these pools; `pools`: [pipeline rank].
ReplicaKind kind_on(const Job& job, std::vector<int> pools);
// The job as seen by the GPUs of one of pools_in_use().
Job seen_from(const Job& job, int pool);

}  // namespace windtunnel
