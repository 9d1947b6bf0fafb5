#include "report/figures/figure_parts.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/tiers.hpp"
#include "models/results/filling_report.hpp"
#include "models/results/input_report.hpp"
#include "models/workload/stage_parameters.hpp"

namespace windtunnel {
namespace {

using enum Unit;
using enum Better;

// This is a value for each level of Job::sync; nothing if replicas synchronise in every step.
std::function<FigureValue(const Record&)> of_sync(double (*value)(const SyncReport& report)) {
  return [value](const Record& record) -> FigureValue {
    std::map<std::string, Estimate> levels;
    for (std::size_t level = 0; level < record.iteration.sync.size(); ++level) {
      const double number = value(record.iteration.sync[level]);
      levels[record.job.sync[level].over] = {.mean = number, .low = number, .high = number};
    }
    return levels.empty() ? FigureValue() : FigureValue(levels);
  };
}

template <auto member>
FigureValue of_stragglers(const Record& record) {
  const std::optional<StragglerReport>& own = record.iteration.stragglers;
  return own ? FigureValue((*own).*member) : FigureValue();
}
template <auto member>
FigureValue of_redundancy(const Record& record) {
  return record.job.redundancy ? of_stragglers<member>(record) : FigureValue();
}

}  // namespace

std::vector<Figure> sync_figures() {
  return {
      {"iteration.inner_step_s", "inner step", seconds, lower,
       "time of a step without an exchange between islands; an island that is too late for an "
       "exchange stops where it is",
       [](const Record& record) {
         const bool any = !record.job.sync.empty();
         return any ? FigureValue(record.iteration.inner_step_s) : FigureValue();
       }},
      {"iteration.sync_utilization", "utilisation of islands", share, higher,
       "share of the mean step that inner steps take; the rest are exposed exchanges and waits of "
       "islands for each other",
       [](const Record& record) {
         const IterationReport& report = record.iteration;
         return record.job.sync.empty() ? FigureValue()
                                        : FigureValue(report.inner_step_s / report.time_s);
       }},
      {"iteration.sync_exchange_s", "exchange between islands", seconds, lower,
       "time of one fragment with nothing else running, by level of sync",
       of_sync([](const SyncReport& report) { return report.seconds.exchange_s; })},
      {"iteration.sync_exposed_s", "exposed exchange", seconds, lower,
       "extra time of steps for one exchange, by level of sync",
       of_sync([](const SyncReport& report) { return report.seconds.exposed_s; })},
      {"iteration.sync_wait_s", "wait of islands", seconds, lower,
       "time that an island waits for others at an exchange because of stragglers, by level of "
       "sync",
       [](const Record& record) -> FigureValue {
         if (!record.iteration.stragglers) return {};
         return of_sync([](const SyncReport& report) { return report.seconds.wait_s; })(record);
       }},
      {"iteration.sync_left_out", "islands not waited for", events, neither,
       "islands that an exchange does not wait for, by level of sync",
       of_sync(
           [](const SyncReport& report) { return static_cast<double>(report.seconds.left_out); })},
      {"iteration.sync_late", "islands too late", share, lower,
       "share of the islands that are too late for an exchange, so that their steps since the last "
       "one do not count, by level of sync",
       of_sync([](const SyncReport& report) { return report.seconds.late; })},
      {"iteration.sync_sent_bytes", "sent between islands", bytes, lower,
       "bytes of all fragments that the busiest GPU sends, by level of sync",
       of_sync([](const SyncReport& report) { return report.sent_bytes; })}};
}

std::vector<Figure> straggler_figures() {
  return {{"iteration.stragglers.step_s", "mean over steps", seconds, lower,
           "mean step time with stragglers; for islands, between their exchanges",
           of_stragglers<&StragglerReport::step_s>},
          {"iteration.stragglers.waiting_s", "if all are waited for", seconds, lower,
           "step time without redundant work, which waits for the slowest replica",
           of_stragglers<&StragglerReport::waiting_s>},
          {"iteration.stragglers.load", "load", events, lower,
           "work of a replica, divided by its part of the batch",
           of_redundancy<&StragglerReport::load>},
          {"iteration.stragglers.missing", "replicas left out", events, lower,
           "mean number of replicas that a step does not wait for",
           of_redundancy<&StragglerReport::missing>},
          {"iteration.stragglers.waited_share", "waited out", share, lower,
           "share of the steps that waited beyond the tolerance because they needed more replicas",
           of_redundancy<&StragglerReport::waited_share>},
          {"iteration.stragglers.gradient_share", "batch in the gradient", share, higher,
           "mean share of the batch that the gradient of a step includes",
           of_redundancy<&StragglerReport::gradient_share>}};
}

namespace {

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

namespace {

using OfRecord = std::function<FigureValue(const Record&)>;

// A member or a function of the report on other work or on input; nothing if the job has none.
template <auto report, class Value>
OfRecord of_part(Value value) {
  return [value](const Record& record) -> FigureValue {
    const auto& part = record.iteration.*report;
    return part == nullptr ? FigureValue() : FigureValue(std::invoke(value, *part));
  };
}

template <class Value>
OfRecord of_filling(Value value) {
  return of_part<&IterationReport::filling>(value);
}

template <class Value>
OfRecord of_input(Value value) {
  return of_part<&IterationReport::input>(value);
}

OfRecord of_work(double (*value)(const FilledWork&, const FillingReport&)) {
  return [value](const Record& record) -> FigureValue {
    if (record.iteration.filling == nullptr) return {};
    std::map<std::string, Estimate> works;
    for (const FilledWork& work : record.iteration.filling->work) {
      const double number = value(work, *record.iteration.filling);
      works[work.name] = {.mean = number, .low = number, .high = number};
    }
    return works;
  };
}

template <double FilledRank::*member>
double mean_of(const FillingReport& report) {
  double sum = 0;
  for (const FilledRank& rank : report.ranks) sum += rank.*member;
  return sum / static_cast<double>(report.ranks.size());
}

bool any_needed(const FillingReport& report) {
  return std::ranges::any_of(report.work, &FilledWork::needed);
}

double filling_flops(const FillingReport& report) {
  double flops = 0;
  for (const FilledWork& work : report.work) flops += work.done * work.flops;
  return flops;
}

std::vector<Figure> filling_figures() {
  return {{"iteration.filling.plain_step_s", "step without filling", seconds, lower,
           "step time without filling, and without the work that the step needs",
           of_filling(&FillingReport::plain_s)},
          {"iteration.filling.plain_idle", "idle without filling", share, lower,
           "mean share of the step without filling in which none of a rank's own kernels run",
           of_filling(&FillingReport::plain_idle)},
          {"iteration.filling.idle_s", "idle", seconds, lower,
           "idle time of a GPU's stream of kernels in the step without filling",
           of_filling(mean_of<&FilledRank::idle_s>)},
          {"iteration.filling.filled_s", "filled", seconds, higher,
           "part of the idle time that other work fills, mean over GPUs",
           of_filling(mean_of<&FilledRank::filled_s>)},
          {"iteration.filling.exposed_s", "exposed", seconds, lower,
           "extra time of a step for needed work that does not fit into idle time",
           of_filling([](const FillingReport& report) {
             return std::max(0.0, report.step_s - report.plain_s);
           })},
          {"iteration.filling.speedup", "speed-up", events, higher,
           "speed of a step, relative to a step that does all needed work after training, divided "
           "evenly over the GPUs",
           of_filling([](const FillingReport& report) -> FigureValue {
             if (!any_needed(report)) return {};
             return report.apart_s / report.step_s;
           })},
          {"iteration.filling.memory_bytes", "memory with filling", memory, lower,
           "peak memory of the fullest GPU, with the other work",
           of_filling([](const FillingReport& report) -> FigureValue {
             double most = 0;
             for (const FilledRank& rank : report.ranks) most = std::max(most, rank.memory_bytes);
             return most > 0 ? FigureValue(most) : FigureValue();
           })},
          {"iteration.filling.units", "units a step", count, higher,
           "units of the other work in a step on all GPUs, by work",
           of_work([](const FilledWork& work, const FillingReport&) { return work.done; })},
          {"iteration.filling.units_per_s", "units/s", count, higher,
           "units of the other work per second",
           of_work([](const FilledWork& work, const FillingReport& report) {
             return work.done / report.step_s;
           })},
          {"iteration.filling.tflops_per_gpu", "TFLOP/s per GPU together", tflops, higher,
           "TFLOP/s of training and filling, if the models of all work are known",
           [](const Record& record) -> FigureValue {
             const auto& report = record.iteration.filling;
             const auto unknown = [](const FilledWork& work) { return work.flops <= 0; };
             if (!report || std::ranges::any_of(report->work, unknown)) return {};
             return record.iteration.tflops_per_gpu +
                    filling_flops(*report) / report->step_s / record.ranks / 1e12;
           }}};
}

std::vector<Figure> input_figures() {
  return {{"iteration.input.load_s", "loading", seconds, lower,
           "time to load the samples of a step, with nothing else running",
           of_input(&InputReport::load_s)},
          {"iteration.input.stall_s", "input stall", seconds, lower,
           "extra time of a step compared with one whose samples are ready",
           of_input(&InputReport::stall_s)},
          {"iteration.input.bound", "loading is bound by", word, neither,
           "the part that limits the speed of loading",
           of_input([](const InputReport& report) -> FigureValue {
             return report.bound.empty() ? FigureValue() : FigureValue(report.bound);
           })},
          {"iteration.input.read_Bps", "read per second", bytes, neither,
           "bytes that the whole job reads per second, mean over a step",
           of_input(&InputReport::read_Bps)},
          {"iteration.input.cores", "cores for input", events, neither,
           "CPU cores that a node uses to prepare samples, mean over a step",
           of_input(&InputReport::cores)}};
}

}  // namespace

std::vector<Figure> idle_figures() {
  std::vector<Figure> figures = filling_figures();
  for (Figure& each : input_figures()) figures.push_back(std::move(each));
  return figures;
}

}  // namespace windtunnel
