#include <algorithm>
#include <map>
#include <string>

#include "models/results/filling_report.hpp"
#include "models/results/input_report.hpp"
#include "report/figures/figure_parts.hpp"

namespace windtunnel {
namespace {

using enum Unit;
using enum Better;
using OfRecord = std::function<FigureValue(const Record&)>;

// Nothing if the job does not fill idle time.
OfRecord of_filling(FigureValue (*value)(const FillingReport&, const Record&)) {
  return [value](const Record& record) {
    const auto& report = record.iteration.filling;
    return report == nullptr ? FigureValue() : value(*report, record);
  };
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
FigureValue mean_of(const FillingReport& report, const Record& /*record*/) {
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
           of_filling([](const FillingReport& report, const Record&) -> FigureValue {
             return report.plain_s;
           })},
          {"iteration.filling.plain_idle", "idle without filling", share, lower,
           "mean share of the step without filling in which none of a rank's own kernels run",
           of_filling([](const FillingReport& report, const Record&) -> FigureValue {
             return report.plain_idle;
           })},
          {"iteration.filling.idle_s", "idle", seconds, lower,
           "idle time of a GPU's stream of kernels in the step without filling",
           of_filling(mean_of<&FilledRank::idle_s>)},
          {"iteration.filling.filled_s", "filled", seconds, higher,
           "part of the idle time that other work fills, mean over GPUs",
           of_filling(mean_of<&FilledRank::filled_s>)},
          {"iteration.filling.exposed_s", "exposed", seconds, lower,
           "extra time of a step for needed work that does not fit into idle time",
           of_filling([](const FillingReport& report, const Record&) -> FigureValue {
             return std::max(0.0, report.step_s - report.plain_s);
           })},
          {"iteration.filling.speedup", "speed-up", events, higher,
           "speed of a step, relative to a step that does all needed work after training, divided "
           "evenly over the GPUs",
           of_filling([](const FillingReport& report, const Record&) -> FigureValue {
             if (!any_needed(report)) return {};
             return report.apart_s / report.step_s;
           })},
          {"iteration.filling.memory_bytes", "memory with filling", memory, lower,
           "peak memory of the fullest GPU, with the other work",
           of_filling([](const FillingReport& report, const Record&) -> FigureValue {
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
           of_filling([](const FillingReport& report, const Record& record) -> FigureValue {
             const auto unknown = [](const FilledWork& work) { return work.flops <= 0; };
             if (std::ranges::any_of(report.work, unknown)) return {};
             return record.iteration.tflops_per_gpu +
                    filling_flops(report) / report.step_s / record.ranks / 1e12;
           })}};
}

// Nothing if the job does not model loading of samples.
OfRecord of_input(FigureValue (*value)(const InputReport&)) {
  return [value](const Record& record) {
    const auto& report = record.iteration.input;
    return report == nullptr ? FigureValue() : value(*report);
  };
}

std::vector<Figure> input_figures() {
  return {{"iteration.input.load_s", "loading", seconds, lower,
           "time to load the samples of a step, with nothing else running",
           of_input([](const InputReport& report) -> FigureValue { return report.load_s; })},
          {"iteration.input.stall_s", "input stall", seconds, lower,
           "extra time of a step compared with one whose samples are ready",
           of_input([](const InputReport& report) -> FigureValue { return report.stall_s; })},
          {"iteration.input.bound", "loading is bound by", word, neither,
           "the part that limits the speed of loading",
           of_input([](const InputReport& report) -> FigureValue {
             return report.bound.empty() ? FigureValue() : FigureValue(report.bound);
           })},
          {"iteration.input.read_Bps", "read per second", bytes, neither,
           "bytes that the whole job reads per second, mean over a step",
           of_input([](const InputReport& report) -> FigureValue { return report.read_Bps; })},
          {"iteration.input.cores", "cores for input", events, neither,
           "CPU cores that a node uses to prepare samples, mean over a step",
           of_input([](const InputReport& report) -> FigureValue { return report.cores; })}};
}

}  // namespace

std::vector<Figure> idle_figures() {
  std::vector<Figure> figures = filling_figures();
  for (Figure& each : input_figures()) figures.push_back(std::move(each));
  return figures;
}

}  // namespace windtunnel
