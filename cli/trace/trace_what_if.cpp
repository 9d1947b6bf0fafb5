#include <fmt/format.h>

#include <optional>

#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/trace/trace_parts.hpp"
#include "models/base/error.hpp"
#include "report/page/comparison_page.hpp"
#include "scenarios/language/overrides.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

WhatIfPoint point_of(const std::string& name, const Case& the_case) {
  const MeasuredIteration measured = measure_iteration(the_case, {.allow_oom = true});
  return what_if_point(name, measured.report, measured.memory_excess);
}

}  // namespace

ChosenSteps study_what_if(const std::string& scenario, const Overrides& set,
                          const std::string& calibration, const std::vector<VariedKey>& vary,
                          double traced_s) {
  constexpr const char* kFile = "calibration of the trace.yaml";
  LoadedScenario loaded = load_scenario(scenario, set);
  loaded.text.files.push_back({.name = kFile, .text = calibration});
  loaded.text.set.emplace_back("calibration", kFile);
  ChosenSteps what_if{.traced_s = traced_s, .captured = {}, .others = {}};
  what_if.captured = point_of("as captured", loaded.at());
  const std::vector<Overrides> points = cross_product(vary);
  std::optional<Error> first_refused;
  std::size_t refused = 0;
  Progress progress;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string name = point_name(points[i]);
    progress.show(fmt::format("[{}/{}] {}", i + 1, points.size(), name));
    try {
      what_if.others.push_back(point_of(name, loaded.at(points[i])));
    } catch (const Error& error) {
      const Error said = as_varied(error, points[i]);
      what_if.others.push_back({.name = name, .reason = said.what()});
      ++refused;
      if (!first_refused) first_refused = said;
    }
  }
  if (first_refused && refused == points.size()) throw Error(*first_refused);
  return what_if;
}

}  // namespace windtunnel
