#include "models/cost/memory/tiers.hpp"

#include <algorithm>
#include <utility>

#include "models/cost/offload/offload.hpp"

namespace windtunnel {
namespace {

TierMemory* tier_of(MemoryTier tier, GpuMemory& at) {
  switch (tier) {
    case MemoryTier::host:
      return &at.host;
    case MemoryTier::disk:
      return &at.disk;
    case MemoryTier::gpu:
    case MemoryTier::automatic:
      break;
  }
  return nullptr;
}

void add(const TierMemory& more, double times, TierMemory& sum) {
  for (double TierMemory::*part : {&TierMemory::weights, &TierMemory::gradients,
                                   &TierMemory::optimizer, &TierMemory::activations}) {
    sum.*part += times * (more.*part);
  }
}

}  // namespace

void move_to_tiers(const Job& job, const TierMemory& state, double parameters, GpuMemory& at) {
  const Offload& offload = offload_of(job);
  const double pieces = std::min(gathered_parameters(job), parameters);
  // Under ZeRO-3 those that are gathered and summed are counted already.
  const bool gathered = state_shards(job, false).weights > 1;
  if (TierMemory* tier = tier_of(offload.optimizer, at)) {
    const double moved = offload.optimizer_share * state.optimizer;
    at.optimizer -= moved;
    tier->optimizer += moved;
    // They arrive in the host's memory, whatever the state lies on, and are there for the step.
    const double state_bytes = optimizer_bytes_per_parameter(job);
    if (offload.gradients == MemoryTier::gpu && state_bytes > 0) {
      at.host.gradients += moved / state_bytes * reduce_bytes_per_parameter(job);
    }
  }
  if (TierMemory* tier = tier_of(offload.gradients, at)) {
    at.gradients -= state.gradients;
    tier->gradients += state.gradients;
    if (!gathered) at.buffers += std::min(state.gradients, pieces * reduce_bytes_per_parameter(job));
  }
  if (TierMemory* tier = tier_of(offload.weights, at)) {
    at.weights -= state.weights;
    tier->weights += state.weights;
    if (!gathered) at.buffers += std::min(state.weights, pieces * weight_bytes_per_parameter(job));
  }
}

double state_share_on_gpu(const Job& job) {
  const Offload& offload = offload_of(job);
  const double weights = offload.weights == MemoryTier::gpu ? 1 : 0;
  const double optimizer = offload.updates_on_host() ? 1 - offload.optimizer_share : 1;
  const double share = weight_share(job);
  return share * weights + (1 - share) * optimizer;
}

void add_offloaded_activations(const Job& job, const std::vector<double>& bytes,
                               std::vector<GpuMemory>& memory) {
  for (std::size_t rank = 0; rank < memory.size(); ++rank) {
    TierMemory* tier = tier_of(offload_of(job).activations, memory[rank]);
    if (tier != nullptr) tier->activations += bytes[rank];
  }
}

TierMemory host_memory_of_node(const Job& job, const std::vector<GpuMemory>& memory) {
  const int gpus = job.cluster.node.gpus;
  const int members = job.layout.tp * job.layout.cp * job.layout.dp;  // of a pipeline rank
  TierMemory most;
  for (int first = 0; first < job.layout.ranks(); first += gpus) {
    TierMemory node;
    const int end = std::min(first + gpus, job.layout.ranks());
    for (int rank = first / members; rank * members < end; ++rank) {
      const int own = std::min(end, (rank + 1) * members) - std::max(first, rank * members);
      add(memory[rank].host, own, node);
    }
    if (node.total() > most.total()) most = node;
  }
  return most;
}

}  // namespace windtunnel
