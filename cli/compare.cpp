// windtunnel compare: a scenario at every combination of the varied values.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/overrides.hpp"
#include "report/json.hpp"
#include "sim/simulate.hpp"

namespace windtunnel {
namespace {

struct CompareOptions {
  std::string scenario;
  std::vector<std::string> set;
  std::vector<std::string> vary;
  std::string out;
  bool json = false;
  bool timing = false;
  int threads = 0;
};

struct Outcome {
  Comparison comparison;
  ExitCode first_error = ExitCode::ok;
};

// What makes a point infeasible is thrown as Error; anything else is our bug and ends the run.
ComparedPoint simulate_point(const CompareOptions& options, const Overrides& varied,
                             Outcome& outcome) {
  ComparedPoint point{varied, std::nullopt, ""};
  Overrides overrides = parse_overrides(options.set);
  overrides.insert(overrides.end(), varied.begin(), varied.end());
  try {
    SimulateOptions simulate_options;
    simulate_options.threads = options.threads;
    point.record = simulate(load_case(options.scenario, overrides), simulate_options);
    point.record->version = program_version();
    // Thousands of tasks per rank that no comparison shows.
    point.record->plan = {};
    point.record->timeline.ranks.clear();
    point.record->critical_path.clear();
  } catch (const Error& error) {
    point.reason = error.what();
    if (outcome.first_error == ExitCode::ok) outcome.first_error = error.code();
  }
  return point;
}

Outcome simulate_points(const CompareOptions& options, const std::vector<Overrides>& points) {
  Outcome outcome;
  Progress progress;
  for (size_t i = 0; i < points.size(); ++i) {
    progress.show(fmt::format("[{}/{}] {}", i + 1, points.size(), set_text(points[i])));
    outcome.comparison.points.push_back(simulate_point(options, points[i], outcome));
  }
  return outcome;
}

// With the same reason everywhere the fault is not in the varied values.
void throw_if_all_fail_alike(const Outcome& outcome) {
  const std::vector<ComparedPoint>& points = outcome.comparison.points;
  const bool alike = std::all_of(points.begin(), points.end(), [&](const ComparedPoint& point) {
    return !point.record && point.reason == points.front().reason;
  });
  if (alike) throw Error(points.front().reason, outcome.first_error);
}

ExitCode compare(const CompareOptions& options) {
  const std::vector<Overrides> points = cross_product(parse_varied(options.vary));
  if (!options.out.empty()) prepare_folder(options.out);
  const Outcome outcome = simulate_points(options, points);
  throw_if_all_fail_alike(outcome);
  const Comparison& comparison = outcome.comparison;
  const std::string document = json_text(compare_document(comparison, options.timing));
  if (!options.out.empty()) write_file(options.out + "/compare.json", document);
  if (options.json) print_result(document);
  print_human(compare_text(comparison, human_style(options.json)), options.json);
  const bool any = std::any_of(comparison.points.begin(), comparison.points.end(),
                               [](const ComparedPoint& point) { return !!point.record; });
  return any ? ExitCode::ok : outcome.first_error;
}

}  // namespace

Handler define_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("SCENARIO", options->scenario, "scenario file (YAML)")->required();
  app.add_option("--vary", options->vary,
                 "values of a key; repeated: every combination. Commas inside of brackets, braces "
                 "and quotes do not separate")
      ->type_name("KEY=A,B,C")
      ->allow_extra_args(false)
      ->required();
  app.add_option("--set", options->set, "set a value of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--out", options->out, "write compare.json here")->type_name("DIR");
  app.add_flag("--json", options->json, "print one JSON document on stdout, text on stderr");
  app.add_flag("--timing", options->timing, "also state how long each simulation itself took");
  app.add_option("-j", options->threads, "threads of the campaign (default: all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  return [options] { return compare(*options); };
}

}  // namespace windtunnel
