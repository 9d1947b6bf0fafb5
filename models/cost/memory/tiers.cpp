#include "models/cost/memory/tiers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/cost/memory/kept_weights.hpp"
#include "models/workload/stage_parameters.hpp"

namespace windtunnel {
namespace {

// nullptr: the part stays on the GPU.
TierMemory GpuMemory::*part_of(MemoryTier tier) {
  switch (tier) {
    case MemoryTier::host:
      return &GpuMemory::host;
    case MemoryTier::disk:
      return &GpuMemory::disk;
    case MemoryTier::gpu:
    case MemoryTier::automatic:
      break;
  }
  return nullptr;
}

TierMemory* tier_of(MemoryTier tier, GpuMemory& at) {
  TierMemory GpuMemory::*part = part_of(tier);
  return part == nullptr ? nullptr : &(at.*part);
}

void add(const TierMemory& more, double times, TierMemory& sum) {
  for (double TierMemory::*part : {&TierMemory::weights, &TierMemory::gradients,
                                   &TierMemory::optimizer, &TierMemory::activations}) {
    sum.*part += times * (more.*part);
  }
}

}  // namespace

namespace {

// Counts the parameters of Offload::sections layers and of the vocabulary.
double sections_parameters(const Job& job) {
  const Offload& offload = offload_of(job);
  return job.network
             ? gathered_parameters(job) * offload.sections / 2
             : gathered_parameters(job.model, job.layout, double(offload.sections) / offload.tiles);
}

// Chunks have equal size, full or not; gradients replace the weights that they belong to. Before
// the warm-up all chunks are outside the GPU.
void move_chunks(const Job& job, const TierMemory& state, GpuMemory& at) {
  const Offload::Chunks& chunks = offload_of(job).chunks;
  at.weights -= state.weights;
  at.gradients -= state.gradients;
  at.optimizer -= state.optimizer;
  if (chunks.count == 0) {
    at.host.weights += state.weights;
    at.host.optimizer += state.optimizer;
    return;
  }
  const double of_optimizer = optimizer_chunk_bytes(job);
  const double room = (chunks.room_bytes - chunks.with_optimizer * of_optimizer) / chunks.bytes;
  const int here =
      static_cast<int>(std::clamp(std::floor(room), double(chunks.at_once), double(chunks.count)));
  at.weights += here * chunks.bytes;
  at.host.weights += (chunks.count - here) * chunks.bytes;
  at.optimizer += chunks.with_optimizer * of_optimizer;
  at.host.optimizer += (chunks.count - chunks.with_optimizer) * of_optimizer;
}

}  // namespace

double optimizer_chunk_bytes(const Job& job) {
  return offload_of(job).chunks.bytes * optimizer_bytes_per_parameter(job) /
         weight_bytes_per_parameter(job);
}

void move_to_tiers(const Job& job, const TierMemory& state, double parameters, GpuMemory& at) {
  const Offload& offload = offload_of(job);
  if (offload.in_chunks()) return move_chunks(job, state, at);
  const double pieces = std::min(sections_parameters(job), parameters);
  // Under ZeRO-3 weights that are gathered and gradients that are summed are counted already.
  const bool gathered = state_shards(job, false).weights > 1;
  if (TierMemory* tier = tier_of(offload.optimizer, at)) {
    const double moved = offload.optimizer_share * state.optimizer;
    at.optimizer -= moved;
    tier->optimizer += moved;
    // Gradients arrive in host memory, wherever the state is, and stay until the step.
    const double state_bytes = optimizer_bytes_per_parameter(job);
    if (offload.gradients == MemoryTier::gpu && state_bytes > 0) {
      at.host.gradients += moved / state_bytes * reduce_bytes_per_parameter(job);
    }
  }
  if (TierMemory* tier = tier_of(offload.gradients, at)) {
    at.gradients -= state.gradients;
    tier->gradients += state.gradients;
    if (!gathered)
      at.buffers += std::min(state.gradients, pieces * reduce_bytes_per_parameter(job));
  }
  if (TierMemory* tier = tier_of(offload.weights, at)) {
    at.weights -= state.weights;
    tier->weights += state.weights;
    // Buffers hold the shards that are fetched ahead of the gathers.
    const double ahead =
        gathered ? pieces - std::min(gathered_parameters(job), parameters) : pieces;
    const double shares = state_shards(job, false).weights;
    at.buffers += std::clamp(ahead * weight_bytes_per_parameter(job) / shares, 0.0, state.weights);
  }
}

double state_share_on_gpu(const Job& job) {
  const Offload& offload = offload_of(job);
  const double weights = offload.weights == MemoryTier::gpu ? 1 : 0;
  const double optimizer = offload.updates_on_host() ? 1 - offload.optimizer_share : 1;
  const SnapshotParameter of = snapshot_parameter(job);
  return (of.weights * weights + of.optimizer * optimizer) / of.bytes();
}

void add_offloaded_activations(const Job& job, const std::vector<double>& bytes,
                               std::vector<GpuMemory>& memory) {
  for (std::size_t rank = 0; rank < memory.size(); ++rank) {
    TierMemory* tier = tier_of(offload_of(job).activations, memory[rank]);
    if (tier != nullptr) tier->activations += bytes[rank];
  }
}

TierMemory tier_of_node(const Job& job, const std::vector<GpuMemory>& memory, MemoryTier tier) {
  TierMemory GpuMemory::*part = part_of(tier);
  CHECK(part != nullptr, "tier {} is beside no GPU", static_cast<int>(tier));
  const int gpus = job.cluster.node.gpus;
  const int members = job.layout.tp * job.layout.cp * job.layout.dp;  // of a pipeline rank
  const RankMap& ranks = job.cluster.ranks;
  TierMemory most;
  for (int first = 0; first < job.layout.ranks(); first += gpus) {
    TierMemory node;
    const int end = std::min(first + gpus, job.layout.ranks());
    for (int gpu = first; gpu < end;) {
      const int rank = ranks.rank_on(gpu);
      const int of_stage = members - rank % members;  // from here to the stage's last rank
      const int own = ranks.in_order() ? std::min(end - gpu, of_stage) : 1;
      add(memory[rank / members].*part, own, node);
      gpu += own;
    }
    if (node.total() > most.total()) most = node;
  }
  return most;
}

double tier_capacity(const NodeSpec& node, MemoryTier tier) {
  return tier == MemoryTier::disk ? node.local_disk_bytes.value : node.host_memory_bytes.value;
}

std::string tier_excess(MemoryTier tier, const std::vector<std::pair<std::string, double>>& by_use,
                        const NodeSpec& node, const std::string& pool) {
  double needed = 0;
  bool offloads = false;
  bool snapshots = false;
  std::vector<std::string> parts;
  for (const auto& [use, bytes] : by_use) {
    needed += bytes;
    (use == kOffloadUse ? offloads : snapshots) = true;
    parts.push_back(fmt::format("{} {}", use, format_bytes(bytes)));
  }
  const double capacity = tier_capacity(node, tier);
  if (needed <= capacity) return {};
  const bool disk = tier == MemoryTier::disk;
  std::vector<std::string> remedies = {"shard them over more nodes"};
  if (snapshots) remedies.push_back("keep fewer copies");
  if (offloads) remedies.push_back(disk ? "offload less to disk" : "offload less, or to disk");
  return fmt::format("{}{}{} {} {} {} per node{} ({}), {} more than the {} of node '{}'; {}",
                     offloads ? "offloaded state" : "", offloads && snapshots ? " and " : "",
                     snapshots ? "snapshots" : "", disk ? "on drives" : "in host memory",
                     snapshots ? "need" : "needs", format_bytes(needed),
                     pool.empty() ? "" : fmt::format(" of pool '{}'", pool), fmt::join(parts, ", "),
                     format_bytes(needed - capacity), format_bytes(capacity), node.name,
                     fmt::join(remedies, ", or "));
}

}  // namespace windtunnel
