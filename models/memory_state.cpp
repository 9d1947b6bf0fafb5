#include <algorithm>

#include "models/memory.hpp"
#include "models/network_cost.hpp"

namespace windtunnel {
namespace {

// Matrices are divided by tp; norms and the biases of row-parallel layers are repeated.
double layer_parameters_per_gpu(const TransformerSpec& model, int tp) {
  const double row_parallel_biases = model.biases ? 2.0 * model.hidden : 0;
  const double repeated = 2 * norm_parameters(model) + row_parallel_biases;
  return (model.layer_parameters() - repeated) / tp + repeated;
}

double expert_parameters_per_gpu(const TransformerSpec& model, int ep) {
  return model.expert_parameters() * model.moe.experts / ep;
}

// Without its experts. The router is repeated too.
double moe_layer_parameters_per_gpu(const TransformerSpec& model, int tp) {
  const double experts = model.moe.experts * model.expert_parameters();
  const double repeated = 2 * norm_parameters(model) + (model.biases ? model.hidden : 0.0) +
                          static_cast<double>(model.hidden) * model.moe.experts;
  return (model.moe_layer_parameters() - experts - repeated) / tp + repeated;
}

double vocabulary_parameters(const TransformerSpec& model, int tp) {
  return padded_vocabulary(model.vocabulary, tp) * static_cast<double>(model.hidden) / tp;
}

}  // namespace

double weight_bytes_per_parameter(const Job& job) {
  return is_mixed(job.precision) ? 2 : 4;
}

double gradient_bytes_per_parameter(const Job& job) {
  if (!is_mixed(job.precision)) return 4;
  const bool reduced = job.layout.dp * job.layout.cp > 1;
  return job.software.gradient_bytes + (reduced ? job.software.reduced_copy_bytes : 0);
}

double optimizer_bytes_per_parameter(const Job& job) {
  return (is_mixed(job.precision) ? 4 : 0) + 4 * moments(job.software.optimizer);
}

double weight_share(const Job& job) {
  const double weights = weight_bytes_per_parameter(job);
  return weights / (weights + optimizer_bytes_per_parameter(job));
}

std::vector<double> stage_parameters(const TransformerSpec& model, const Layout& layout) {
  const std::vector<int> layers = layers_per_stage(model, layout);
  const std::vector<int> sparse = moe_layers_per_stage(model, layout);
  std::vector<double> parameters(layers.size());
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    parameters[stage] +=
        (layers[stage] - sparse[stage]) * layer_parameters_per_gpu(model, layout.tp);
    if (sparse[stage] > 0) {
      parameters[stage] += sparse[stage] * (moe_layer_parameters_per_gpu(model, layout.tp) +
                                            expert_parameters_per_gpu(model, layout.ep));
    }
  }
  const double matrix = vocabulary_parameters(model, layout.tp);
  const double positions = model.position == PositionEncoding::learned
                               ? static_cast<double>(model.sequence) * model.hidden
                               : 0;
  parameters.front() += matrix + positions + model.segment_parameters();
  parameters.back() += norm_parameters(model) + model.encoder_parameters();
  if (!model.tied_embeddings || layout.pp > 1) parameters.back() += matrix;
  return parameters;
}

double gathered_parameters(const Job& job) {
  if (job.network) return network_gathered_parameters(*job.network);
  const TransformerSpec& model = job.model;
  double layer = layer_parameters_per_gpu(model, job.layout.tp);
  if (model.moe.experts > 0) {
    layer = std::max(layer, moe_layer_parameters_per_gpu(model, job.layout.tp) +
                                expert_parameters_per_gpu(model, job.layout.ep));
  }
  return 2 * layer + vocabulary_parameters(model, job.layout.tp);
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
  const auto of = [&](int dense) { return std::max(1.0, double(dense) * layout.tp / layout.ep); };
  return {of(ranks.weights), 0, of(ranks.gradients), of(ranks.optimizer)};
}

std::vector<WholeParameters> whole_parameters(const Schedule& schedule,
                                              const std::vector<ChunkCost>& chunks) {
  std::vector<WholeParameters> peaks(static_cast<std::size_t>(schedule.ranks));
  std::vector<bool> weights(schedule.stages(), false);
  std::vector<bool> gradients(schedule.stages(), false);
  bool says = false;
  for (std::size_t rank = 0; rank < peaks.size(); ++rank) {
    WholeParameters now;
    for (const Action& action : schedule.actions[rank]) {
      const double parameters = chunks[schedule.model_stage(action.stage)].parameters;
      const auto set = [&](std::vector<bool>& whole, bool value, double& sum) {
        if (whole[action.stage] != value) sum += value ? parameters : -parameters;
        whole[action.stage] = value;
      };
      switch (action.kind) {
        case ActionKind::unshard:
          says = true;
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
  return says ? peaks : std::vector<WholeParameters>();
}

std::vector<double> snapshot_bytes_per_gpu(const Job& job, const std::vector<ChunkCost>& chunks,
                                           const HeldStages& held) {
  const double per_parameter = weight_bytes_per_parameter(job) + optimizer_bytes_per_parameter(job);
  const Layout& layout = job.layout;
  const double replicas = static_cast<double>(layout.dp) * layout.cp;
  const double expert_replicas = std::max(1.0, replicas * layout.tp / layout.ep);
  std::vector<double> bytes(static_cast<std::size_t>(layout.pp));
  const HeldStages stages_of = held.empty() ? looped_stages(layout.pp, layout.vpp) : held;
  std::vector<int> copies(chunks.size(), 0);
  for (const auto& stages : stages_of) {
    for (const int stage : stages) ++copies[stage];
  }
  for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
    for (const int stage : stages_of[rank]) {
      const double experts = chunks[stage].expert_parameters;
      const double dense = chunks[stage].parameters - experts;
      bytes[rank] += per_parameter * (dense / replicas + experts / expert_replicas) / copies[stage];
    }
  }
  return bytes;
}

}  // namespace windtunnel
