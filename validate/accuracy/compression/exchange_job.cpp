#include "validate/accuracy/compression/exchange_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "models/base/error.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/workload/layer_table.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/library/library.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

// The model with the longest name that is a prefix of `wanted`; nullptr: none.
template <typename Model>
const Model* best_named(const std::vector<Model>& models, const std::string& wanted) {
  const Model* best = nullptr;
  for (const Model& model : models) {
    const std::string known = plain_name(model.name);
    if (!wanted.starts_with(known)) continue;
    if (best == nullptr || known.size() > plain_name(best->name).size()) best = &model;
  }
  return best;
}

void set_model(const std::string& name, Job& job) {
  const std::string wanted = plain_name(name);
  const LayerTable* network = best_named(library_networks(), wanted);
  const TransformerSpec* transformer = best_named(library_models(), wanted);
  if (network != nullptr) {
    job.network = std::make_shared<const LayerTable>(*network);
    job.model = network_model(*network);
  } else if (transformer != nullptr) {
    job.model = *transformer;
  } else {
    throw Error(fmt::format("the library has no model '{}'", name));
  }
}

// Constants that are part of the measured speed are set to have no effect; a fit sets those of the
// network.
Calibration measured_kernels() {
  Calibration calibration = find_calibration("generic");
  const auto set = [](Parameter& parameter, double value, const char* source) {
    parameter = {value, value, value, Origin::published, source};
  };
  constexpr const char* kInTheSpeed = "part of the measured speed of one GPU";
  for (Parameter* parameter :
       {&calibration.kernel_launch_s, &calibration.host_launch_s, &calibration.memory_half_bytes}) {
    set(*parameter, 0, kInTheSpeed);
  }
  set(calibration.overlap_slowdown, 0, "see the fit");
  set(calibration.optimizer_bytes, 28, "Adam in fp32: 4 reads, 3 writes");
  return calibration;
}

}  // namespace

Job exchange_job(const std::string& model, double parameters, int gpus, int batch,
                 const ExchangeMachine& machine) {
  Job job;
  set_model(model, job);
  constexpr double kTolerance = 0.05;  // sources round, and may or may not count heads
  const double known = exchange_parameters(job);
  if (parameters > 0 && std::abs(known / parameters - 1) > kTolerance) {
    throw Error(fmt::format("'{}' has {:.4g} parameters, but the library's {} has {:.4g}", model,
                            parameters, job.model.name, known));
  }
  if (double(batch) * gpus > std::numeric_limits<int>::max()) {
    throw Error(fmt::format("{} samples on each of {} GPUs are too many for a step", batch, gpus));
  }
  job.cluster.node = find_node(machine.node);
  NodeSpec& node = job.cluster.node;
  node.gpus = std::min(gpus, machine.gpus_per_node);
  if (gpus % node.gpus != 0) {
    throw Error(fmt::format("{} GPUs do not fill whole nodes of {}", gpus, node.gpus));
  }
  job.cluster.nodes = gpus / node.gpus;
  node.nics = std::min(machine.nics, node.gpus);
  node.nic_Bps.value = machine.nic_Bps * machine.nics / node.nics;
  job.cluster.fabric = find_fabric("full-bisection").fabric;
  job.layout.dp = gpus;
  job.batch = {.global = batch * gpus, .micro = batch, .sequence = job.model.sequence};
  job.precision = Precision::fp32;
  job.software.optimizer = Optimizer::momentum;
  job.calibration = measured_kernels();
  job.communication.collectives = {
      {.kind = CollectiveKind::all_reduce, .algorithm = CollectiveAlgorithm::ring, .where = {}},
      {.kind = CollectiveKind::all_to_all, .algorithm = CollectiveAlgorithm::direct, .where = {}}};
  return job;
}

void set_alone_s(Job& job, double seconds) {
  Job alone = job;
  alone.cluster.nodes = 1;
  alone.cluster.node.gpus = 1;
  alone.batch.global = job.batch.global / job.layout.dp;
  alone.layout.dp = 1;
  alone.communication = {};
  GpuSpec& gpu = job.cluster.node.gpu;
  // All times are work divided by a rate, so the first step is exact except for rounding.
  for (int step = 0; step < 2; ++step) {
    alone.cluster.node.gpu = gpu;
    const double speed = exchange_step_s(alone) / seconds;
    CHECK(std::isfinite(speed) && speed > 0, "{} s on one GPU", seconds);
    gpu.fp32_flops.value *= speed;
    gpu.memory_Bps.value *= speed;
  }
}

double exchange_step_s(const Job& job) {
  return estimate_iteration(job, prepare_iteration(job)).step_s;
}

double exchange_parameters(const Job& job) {
  return job.network != nullptr ? job.network->parameters() : job.model.parameters();
}

int weighted_layers(const Job& job) {
  if (job.network == nullptr) {
    // A layer has queries, keys, values, output, two matrices of the MLP and two norms; the rest
    // are embeddings, pooler and head.
    return 8 * job.model.layers + 6;
  }
  return static_cast<int>(std::ranges::count_if(
      job.network->layers, [](const NetworkLayer& layer) { return layer.parameters > 0; }));
}

int weight_tensors(const Job& job) {
  if (job.network == nullptr) return 2 * weighted_layers(job);
  int tensors = 0;
  for (const NetworkLayer& layer : job.network->layers) {
    if (layer.parameters > 0) tensors += layer.parameters == layer.n * layer.k ? 1 : 2;
  }
  return tensors;
}

}  // namespace windtunnel
