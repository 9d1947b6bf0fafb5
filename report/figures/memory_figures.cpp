#include "report/figures/memory_figures.hpp"

#include <functional>

#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/workload/stage_parameters.hpp"

namespace windtunnel {
namespace {

using enum Unit;
using enum Better;

constexpr const char* kByClosedForm = "closed form";

// Nothing where all is trained.
std::function<FigureValue(const Record&)> of_training(
    double (*value)(const ParameterCounts& counts)) {
  return [value](const Record& record) {
    if (!record.job.training) return FigureValue();
    const ParameterCounts counts = parameter_counts(record.job);
    return counts.trained < counts.all ? FigureValue(value(counts)) : FigureValue();
  };
}

}  // namespace

std::vector<Figure> memory_figures() {
  return {
      {"iteration.memory_bytes.peak", "peak memory", memory, lower, "of the fullest GPU",
       [](const Record& record) { return fullest_bytes(record.iteration.memory); }, kByClosedForm},
      {"iteration.memory_bytes.host", "offloaded to the host", memory, lower,
       "of the node's memory, all its GPUs together; without snapshots",
       [](const Record& record) -> FigureValue {
         const Job& job = record.job;
         if (!offload_of(job).any()) return {};
         return host_memory_of_node(job, record.iteration.memory).total();
       },
       kByClosedForm},
      {"iteration.memory_bytes.fits", "fits", word, neither, "in the usable memory of GPU and host",
       [](const Record& record) { return record.memory_excess.empty(); }, kByClosedForm},
      {"iteration.parameters", "parameters", count, neither,
       "of the model, adapters included, where it is not trained as a whole (train)",
       of_training([](const ParameterCounts& counts) { return counts.all; }), kByClosedForm},
      {"iteration.trained_parameters", "trained", count, neither, "of these",
       of_training([](const ParameterCounts& counts) { return counts.trained; }), kByClosedForm}};
}

}  // namespace windtunnel
