#include "policies/lengths/length_pool.hpp"

#include <algorithm>
#include <utility>

#include "models/base/error.hpp"
#include "models/plan/pipeline_stages.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {
namespace {

// Whether this number of ranks can share a sequence.
bool takes_degree(const Job& job, int ranks) {
  Layout layout;
  layout.tp = job.layout.tp;
  layout.cp = ranks;
  layout.context = job.layout.context;
  layout.sequence_parallel = job.layout.sequence_parallel;
  const int group = layout.ranks();
  try {
    check_layout(job.model, layout, {.global = 1, .micro = 1, .sequence = 2 * group}, group,
                 job.cluster.node.gpus);
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace

int pool_gpus(const Job& job) {
  return job.layout.cp * job.layout.dp;
}

std::vector<int> degrees_of(const Job& job) {
  std::vector<int> degrees;
  for (int ranks = 1; ranks <= pool_gpus(job) && takes_degree(job, ranks); ranks *= 2) {
    degrees.push_back(ranks);
  }
  return degrees;
}

int whole_groups(const Job& job, int packs) {
  const int group = job.layout.vpp > 1 ? job.layout.pp : 1;
  return (packs + group - 1) / group * group;
}

int expert_gpus(const Job& job) {
  return job.model.moe_layers() > 0 ? std::max(1, job.layout.ep / job.layout.tp) : 1;
}

bool in_step(const Job& job) {
  return job.layout.sharding >= Sharding::zero2 || expert_gpus(job) > 1 || job.layout.vpp > 1;
}

std::set<int> pools_in_use(const Job& job) {
  std::set<int> pools;
  for (int gpu = 0; gpu < job.layout.ranks(); ++gpu) pools.insert(job.cluster.pool_of(gpu));
  return pools;
}

int slowest_pool(const Job& job) {
  int slowest = -1;
  for (const int pool : pools_in_use(job)) slowest = slower_pool(job, slowest, pool);
  return slowest;
}

ReplicaKind kind_on(const Job& job, std::vector<int> pools) {
  return {.first = 0,
          .replicas = job.layout.dp,
          .pools = std::move(pools),
          .microbatches = microbatches(job.layout, job.batch),
          .micro = job.batch.micro};
}

Job seen_from(const Job& job, int pool) {
  if (pool < 0) return job;
  return job_of_kind(job, kind_on(job, std::vector<int>(job.layout.pp, pool)), pool);
}

}  // namespace windtunnel
