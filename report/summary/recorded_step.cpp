#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "models/base/units.hpp"
#include "models/results/iteration_report.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {
namespace {

// Iterations count from 1 in the text.
RecordedStep several_iterations(const Record& record) {
  const SteadyWindow window = reported_window(record.job, record.plan);
  const int first = window.first + 1;
  const int last = window.last + 1;
  const std::string step = last - first == 1
                               ? fmt::format("iteration {}", last)
                               : fmt::format("the mean of iterations {} to {}", first + 1, last);
  return {fmt::format("{} iterations", record.plan.iterations),
          fmt::format("it shows {} iterations, which end at {}; the step of {} is {}, from the end "
                      "of iteration {} to that of {}",
                      record.plan.iterations, format_seconds(record.timeline.makespan_s),
                      format_seconds(record.iteration.recorded_s), step, first, last)};
}

}  // namespace

RecordedStep recorded_step(const Record& record) {
  const IterationReport& report = record.iteration;
  const std::string own = format_seconds(report.recorded_s);
  const std::string mean = format_seconds(report.time_s);
  std::vector<std::string> labels;
  std::vector<std::string> sentences;
  const auto add = [&](std::string label, std::string sentence) {
    labels.push_back(std::move(label));
    sentences.push_back(std::move(sentence));
  };
  if (record.plan.iterations > 1) {
    RecordedStep several = several_iterations(record);
    add(std::move(several.label), std::move(several.sentence));
  }
  if (report.recorded_s != report.time_s) {
    if (report.drawn_s) {
      const std::string draw =
          fmt::format("draw {} of {}", report.draw + 1, record.job.cluster.jitter.draws);
      add(draw, fmt::format("it is {}, whose step takes {}; the mean is {}", draw, own, mean));
    }
    std::vector<std::string> without;
    if (report.stragglers) without.emplace_back("stragglers");
    if (!report.sync.empty()) without.emplace_back("exchanges between islands");
    if (!without.empty()) {
      const std::string what = fmt::format("without {}", fmt::join(without, " and "));
      add(what, fmt::format("it is a step {}, which takes {}; with them the mean is {}", what, own,
                            mean));
    }
  }
  return {fmt::format("{}", fmt::join(labels, ", ")),
          fmt::format("{}", fmt::join(sentences, "; "))};
}

}  // namespace windtunnel
