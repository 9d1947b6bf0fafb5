#include <functional>

#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/tiers.hpp"
#include "models/workload/stage_parameters.hpp"
#include "report/figures/figure_parts.hpp"

namespace windtunnel {
namespace {

using enum Unit;
using enum Better;

// Nothing if all parameters are trained.
std::function<FigureValue(const Record&)> of_training(
    double (*value)(const ParameterCounts& counts)) {
  return [value](const Record& record) {
    if (!record.job.training) return FigureValue();
    const ParameterCounts counts = parameter_counts(record.job);
    return counts.trained < counts.all ? FigureValue(value(counts)) : FigureValue();
  };
}

// Nothing if nothing is offloaded.
template <MemoryTier tier>
FigureValue of_tier(const Record& record) {
  if (!offload_of(record.job).any()) return {};
  return tier_of_node(record.job, record.iteration.memory, tier).total();
}

}  // namespace

std::vector<Figure> memory_figures() {
  return {{"iteration.memory_bytes.peak", "peak memory", memory, lower,
           "peak memory of the fullest GPU",
           [](const Record& record) { return fullest_bytes(record.iteration.memory); }, kClosedForm,
           Follows::memory},
          {"iteration.memory_bytes.host", "offloaded to the host", memory, lower,
           "memory of a node that its GPUs use for offloading, without snapshots",
           of_tier<MemoryTier::host>, kClosedForm},
          {"iteration.memory_bytes.disk", "offloaded to drives", memory, lower,
           "space on the drives of a node that its GPUs use for offloading, without snapshots",
           of_tier<MemoryTier::disk>, kClosedForm},
          {"iteration.memory_bytes.fits", "fits", word, neither,
           "whether everything fits in the usable memory of GPU and host, and on the node's drives",
           [](const Record& record) { return record.memory_excess.empty(); }, kClosedForm},
          {"iteration.parameters", "parameters", count, neither,
           "parameters of the model, including adapters, if only parts of it are trained (train)",
           of_training([](const ParameterCounts& counts) { return counts.all; }), kClosedForm},
          {"iteration.trained_parameters", "trained", count, neither, "parameters that are trained",
           of_training([](const ParameterCounts& counts) { return counts.trained; }), kClosedForm}};
}

}  // namespace windtunnel
