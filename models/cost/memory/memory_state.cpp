// Bytes of the training state on a GPU: weights, gradients and optimizer under sharding, and their
// part in a snapshot.
#include <algorithm>

#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/cost/memory/gradient_buffers.hpp"
#include "models/cost/memory/kept_weights.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/cost/parallel/orthogonal_update.hpp"
#include "models/plan/pipeline_stages.hpp"
#include "models/plan/state_shares.hpp"
#include "models/reliability/stragglers/redundancy.hpp"
#include "models/workload/stage_parameters.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {

double weight_bytes_per_parameter(const Job& job) {
  return is_mixed(job.precision) ? 2 : 4;
}

namespace {

// Number of gradients that are summed separately, each for another step (results_of()).
int gradients_of(const Job& job) {
  return job.redundancy ? results_of(*job.redundancy) : 1;
}

// With 16-bit weights the optimizer has an fp32 copy, which it updates.
bool has_fp32_copy(const Job& job) {
  return is_mixed(job.precision) && !job.software.pure_16_bit &&
         !is_zeroth_order(job.training.get());
}

}  // namespace

double kept_copy_bytes_per_parameter(const Job& job) {
  const bool fp32_shards = job.software.fp32_shards && job.layout.sharding != Sharding::none;
  return fp32_shards && has_fp32_copy(job) ? 0 : weight_bytes_per_parameter(job);
}

SnapshotParameter snapshot_parameter(const Job& job) {
  constexpr double kFp32 = 4;
  SnapshotParameter of{kept_copy_bytes_per_parameter(job), optimizer_bytes_per_parameter(job)};
  if (!has_fp32_copy(job) || of.weights == 0) return of;
  switch (job.software.snapshot_weights) {
    case SnapshotWeights::all:
      break;
    case SnapshotWeights::fp32_shards:
      if (job.layout.sharding == Sharding::zero3) of.weights = 0;
      break;
    case SnapshotWeights::compute:
      of.optimizer -= kFp32;
      break;
  }
  return of;
}

double gradient_bytes_per_parameter(const Job& job) {
  if (is_zeroth_order(job.training.get())) return 0;
  if (!is_mixed(job.precision)) return 4.0 * gradients_of(job);
  const bool reduced = job.layout.island_replicas() > 1;
  return gradients_of(job) *
         (job.software.gradient_bytes + (reduced ? job.software.reduced_copy_bytes : 0));
}

double optimizer_bytes_per_parameter(const Job& job) {
  if (is_zeroth_order(job.training.get())) return 0;
  const double copy = has_fp32_copy(job) ? 4 : 0;
  double vectors = moments(job.software.optimizer);
  // With Muon, parameters that are no matrices keep the second moment of Adam.
  if (job.software.optimizer == Optimizer::muon) vectors += 1 - muon_share(job.model);
  return copy + moment_bytes_per_parameter(job) * vectors;
}

double moment_bytes_per_parameter(const Job& job) {
  if (!is_mixed(job.precision)) return 4;
  return job.software.pure_16_bit ? 2 : job.software.moment_bytes;
}

double reduce_bytes_per_parameter(const Job& job) {
  return is_mixed(job.precision) ? job.software.reduce_bytes : 4;
}

double whole_gradient_bytes_per_parameter(const Job& job) {
  if (is_zeroth_order(job.training.get())) return 0;
  const double reduced = reduce_bytes_per_parameter(job);
  const double kept = job.software.gradient_bytes;
  const bool copied = is_mixed(job.precision) && 0 < kept && kept < reduced;
  return copied ? (kept + reduced) / 2 : reduced;
}

double bucket_elements(const Job& job) {
  return std::max(job.communication.bucket_elements,
                  job.communication.bucket_elements_per_replica * job.layout.dp);
}

double bucket_bytes(const Job& job) {
  const double elements = bucket_elements(job);
  return elements > 0 ? elements * reduce_bytes_per_parameter(job) : job.communication.bucket_bytes;
}

double weight_share(const Job& job) {
  const SnapshotParameter of = snapshot_parameter(job);
  // If the snapshot has no separate weights, they are the fp32 copy, which otherwise counts as
  // optimizer state.
  return (of.weights == 0 ? 4 : of.weights) / of.bytes();
}

double outer_state_bytes(const Job& job, double dense, double experts) {
  const Layout& layout = job.layout;
  const double replicas = layout.island_replicas();
  const double of_experts = experts / std::max(1.0, replicas * layout.tp / layout.ep);
  double bytes = 0;
  for (const SyncLevel& level : job.sync) {
    const bool all = level.parameters == SyncParameters::all;
    bytes += outer_state_bytes_per_parameter(level) * (1 + level.optimizer_states) *
             (dense / replicas + (all ? of_experts : 0));
  }
  return bytes;
}

double gathered_parameters(const Job& job) {
  if (job.network) return network_gathered_parameters(*job.network);
  const double whole = gathered_parameters(job.model, job.layout, 2.0 / offload_of(job).tiles);
  const bool in_4_bits = job.training && job.training->adapter.kind == AdapterKind::qlora;
  if (!in_4_bits) return whole;
  // Layers are gathered in 4 bits, the form in which they are kept.
  const double root = gathered_parameters(job.model, job.layout, 0);
  return root + (whole - root) * kNf4Bytes / weight_bytes_per_parameter(job);
}

StateShards state_shards(const Job& job, bool experts) {
  Layout layout = job.layout;
  if (!experts) {
    const ShardRanks ranks = shard_ranks(layout);
    return {double(ranks.weights), double(layout.secondary_ranks), double(ranks.gradients),
            double(ranks.optimizer)};
  }
  layout.weight_ranks = layout.gradient_ranks = 0;
  const ShardRanks ranks = shard_ranks(layout);
  return {expert_shards(layout, ranks.weights, Sharding::zero3), 0,
          expert_shards(layout, ranks.gradients, Sharding::zero2),
          expert_shards(layout, ranks.optimizer, Sharding::zero1)};
}

std::vector<WholeParameters> whole_parameters(const Schedule& schedule,
                                              const std::vector<ChunkCost>& chunks) {
  const auto unshards = [](const Action& action) { return action.kind == ActionKind::unshard; };
  const bool says = std::ranges::any_of(schedule.actions, [&](const auto& actions) {
    return std::ranges::any_of(actions, unshards);
  });
  if (!says) return {};
  std::vector<WholeParameters> peaks(static_cast<std::size_t>(schedule.ranks));
  std::vector<bool> weights(schedule.stages(), false);
  std::vector<bool> gradients(schedule.stages(), false);
  for (std::size_t rank = 0; rank < peaks.size(); ++rank) {
    WholeParameters now;
    for (const Action& action : schedule.actions[rank]) {
      const ChunkCost& chunk = chunks[schedule.model_stage(action.stage)];
      const auto set = [&](std::vector<bool>& whole, bool value, double& sum) {
        const bool of_weights = &whole == &weights;
        const double parameters = chunk.parameters + (of_weights ? chunk.frozen_parameters : 0);
        if (whole[action.stage] != value) sum += value ? parameters : -parameters;
        whole[action.stage] = value;
      };
      switch (action.kind) {
        case ActionKind::unshard:
          set(weights, true, now.weights);
          break;
        case ActionKind::reshard:
          set(weights, false, now.weights);
          break;
        case ActionKind::backward:
        case ActionKind::backward_weight:
          set(gradients, true, now.gradients);
          break;
        case ActionKind::reduce_grad:
          set(gradients, false, now.gradients);
          break;
        default:
          break;
      }
      peaks[rank].weights = std::max(peaks[rank].weights, now.weights);
      peaks[rank].gradients = std::max(peaks[rank].gradients, now.gradients);
    }
  }
  return peaks;
}

std::vector<double> snapshot_bytes_per_gpu(const Job& job, const std::vector<ChunkCost>& chunks,
                                           const HeldStages& held) {
  const double per_parameter = snapshot_parameter(job).bytes();
  const Layout& layout = job.layout;
  const double replicas = layout.island_replicas();
  const double expert_replicas = std::max(1.0, replicas * layout.tp / layout.ep);
  std::vector<double> bytes(static_cast<std::size_t>(layout.pp));
  const HeldStages stages_of = stages_of_ranks(layout, held);
  std::vector<int> copies(chunks.size(), 0);
  for (const auto& stages : stages_of) {
    for (const int stage : stages) ++copies[stage];
  }
  for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
    const double share = layout.state_factors.empty()
                             ? largest_state_factor(job, static_cast<int>(rank))
                             : layout.state_factors[rank];
    for (const int stage : stages_of[rank]) {
      const double experts = chunks[stage].expert_parameters;
      const double dense = chunks[stage].parameters - experts;
      bytes[rank] +=
          per_parameter * (share * dense / replicas + experts / expert_replicas) / copies[stage];
    }
  }
  return bytes;
}

}  // namespace windtunnel
