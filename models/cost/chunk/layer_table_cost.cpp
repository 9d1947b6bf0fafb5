#include "models/cost/chunk/layer_table_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/cost/op/block_cost.hpp"
#include "models/cost/op/host_launch.hpp"
#include "models/workload/layer_table.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {
namespace {

void add(std::vector<CostPart>& parts, Category category, const OpCost& cost) {
  add_cost(parts, category, cost.origin, cost.seconds);
}

// The host launches all kernels of a direction without waiting for any, so they are one sequence.
void add_host(const Job& job, const std::vector<LayerCost>& layers, ChunkCost& chunk) {
  if (job.software.cuda_graphs) return;
  std::vector<Launched> forward;
  std::vector<Launched> backward;
  const double launch_s = host_launch_s(job.calibration, job.software, 1);
  const auto launch = [&](const OpCost& cost, std::vector<Launched>& launched) {
    if (cost.seconds > 0) launched.push_back({launch_s, cost.seconds});
  };
  for (const LayerCost& layer : layers) {
    launch(layer.forward, forward);
    launch(layer.backward_input, backward);
    launch(layer.backward_weight, backward);
  }
  const double run_ahead = job.calibration.host_run_ahead.value;
  const auto wait = [&](const std::vector<Launched>& launched) {
    return OpCost{host_wait_s(launched, run_ahead), job.calibration.host_launch_s.origin};
  };
  add(chunk.forward, Category::host, wait(forward));
  add(chunk.backward_input, Category::host, wait(backward));
}

ActivationRule rule_of(const Job& job, std::size_t layer) {
  const Offload& offload = offload_of(job);
  return layer < offload.layers.size() ? offload.layers[layer] : ActivationRule::keep;
}

// How a layer of the table takes part in training, as a part of a transformer does.
PartTraining layer_training(const Job& job, std::size_t layer) {
  return part_training(job.training.get(), static_cast<int>(layer), job.model.layers);
}

// All layers that gradients pass through keep their activations, except swapped layers, of which
// two are present at a time, and recomputed layers, which are all present from the last kept one
// on; in addition there are the gradients of one layer's input and output.
void add_activations(const Job& job, const std::vector<LayerCost>& costs, ChunkCost& chunk) {
  const LayerTable& network = *job.network;
  const double bytes = bytes_of(job.precision) * job.batch.micro;
  if (layer_training(job, 0).backward) {
    chunk.activation_bytes = bytes * network.layers.front().input;
  }
  double run = 0;
  double largest_swapped = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const NetworkLayer& layer = network.layers[i];
    const PartTraining part = layer_training(job, i);
    const double kept = part.backward ? bytes * layer.kept : 0;
    switch (rule_of(job, i)) {
      case ActivationRule::keep:
        chunk.activation_bytes += kept;
        if (kept > 0) run = 0;
        break;
      case ActivationRule::swap:
        chunk.offloaded_bytes += kept;
        largest_swapped = std::max(largest_swapped, kept);
        if (kept > 0) run = 0;
        break;
      case ActivationRule::recompute:
        run += kept;
        if (part.backward) add(chunk.recompute, Category::recompute, costs[i].forward);
        break;
    }
    const double sides = bytes * (layer.input + layer.output);
    chunk.transient_bytes = std::max(chunk.transient_bytes, sides + run);
    if (part.backward && part.weights && layer.forward_macs() > 0) {
      chunk.weight_activation_bytes += sides;
    }
  }
  chunk.transient_bytes += 2 * largest_swapped;
}

}  // namespace

TransformerSpec network_model(const LayerTable& network) {
  TransformerSpec model;
  model.name = network.name;
  model.layers = static_cast<int>(network.layers.size());
  model.hidden = model.heads = model.kv_heads = model.sequence = 1;
  model.tied_embeddings = false;
  model.source = network.source;
  return model;
}

void check_network(const Job& job) {
  const Layout& layout = job.layout;
  const std::string& name = job.network->name;
  if (layout.sequence_parallel) {
    throw Error::of_key("layout.sequence_parallel", ": model '{}' has no sequences", name);
  }
  if (!layout.stage_layers.empty() || layout.first_stage_layers != 0 ||
      layout.last_stage_layers != 0) {
    throw Error::of_key("layout.stages", ": model '{}' runs as one stage", name);
  }
  if (job.batch.sequence != 1) {
    throw Error::of_key("batch.sequence",
                        "is {}, but model '{}' has samples, not sequences; "
                        "leave it out",
                        job.batch.sequence, name);
  }
}

namespace {

// The products of a Winograd tile have as many rows and columns in total as the direct product, and
// a shorter inner dimension: Lavin and Gray, section 4.
OpCost convolution_cost(Op op, const Job& job) {
  const Parameter& fewer = job.calibration.convolution_winograd;
  op.k /= fewer.value;
  op.flops /= fewer.value;
  OpCost cost = op_cost(op, job);
  if (fewer.value != 1) cost.origin = weakest(cost.origin, fewer.origin);
  return cost;
}

}  // namespace

std::vector<LayerCost> network_layer_costs(const Job& job, int fused) {
  const LayerTable& network = *job.network;
  std::vector<LayerCost> costs(network.layers.size());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const auto cost_of = [&](Pass pass) {
      std::optional<Op> op = layer_op(network, i, job.batch.micro, job.precision, pass);
      if (!op) return OpCost{};
      if (fused > 1) op = fused_op(*op, fused);
      if (network.layers[i].winograd && job.precision == Precision::fp32) {
        return convolution_cost(*op, job);
      }
      return op_cost(*op, job);
    };
    costs[i].forward = cost_of(Pass::forward);
    const PartTraining part = layer_training(job, i);
    if (!part.backward) continue;
    costs[i].backward_input = cost_of(Pass::backward_input);
    if (part.weights) costs[i].backward_weight = cost_of(Pass::backward_weight);
  }
  return costs;
}

std::vector<ChunkCost> network_chunk_costs(const Job& job, const ChunkUnit& unit) {
  check_network(job);
  CHECK(unit.slice.share() == 1, "a sample cut into slices");
  const std::vector<LayerCost> layers = network_layer_costs(job, unit.fused);
  ChunkCost chunk;
  for (const LayerCost& layer : layers) {
    add(chunk.forward, Category::forward, layer.forward);
    add(chunk.backward_input, Category::backward, layer.backward_input);
    add(chunk.backward_weight, Category::backward, layer.backward_weight);
  }
  add_host(job, layers, chunk);
  add_activations(job, layers, chunk);
  chunk.hardware_flops = step_flops(job, job.batch.micro);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const NetworkLayer& layer = job.network->layers[i];
    const PartTraining part = layer_training(job, i);
    (part.weights ? chunk.parameters : chunk.frozen_parameters) += layer.parameters;
    if (rule_of(job, i) == ActivationRule::recompute && part.backward) {
      chunk.hardware_flops += 2 * layer.forward_macs() * job.batch.micro;
    }
  }
  return {chunk};
}

double network_gathered_parameters(const LayerTable& network) {
  double most = 0;
  double before = 0;
  for (const NetworkLayer& layer : network.layers) {
    if (layer.parameters == 0) continue;
    most = std::max(most, before + layer.parameters);
    before = layer.parameters;
  }
  return most;
}

double model_flops(const LayerTable& network, double samples) {
  return 3 * 2 * network.forward_macs() * samples;
}

double trained_parameters(const Job& job) {
  double parameters = 0;
  for (std::size_t i = 0; i < job.network->layers.size(); ++i) {
    if (layer_training(job, i).weights) parameters += job.network->layers[i].parameters;
  }
  return parameters;
}

double step_flops(const Job& job, double samples) {
  if (!job.training) return model_flops(*job.network, samples);
  double macs = 0;
  for (std::size_t i = 0; i < job.network->layers.size(); ++i) {
    const PartTraining part = layer_training(job, i);
    const int products = 1 + (part.backward ? 1 : 0) + (part.backward && part.weights ? 1 : 0);
    macs += products * job.network->layers[i].forward_macs();
  }
  return 2 * macs * samples;
}

}  // namespace windtunnel
