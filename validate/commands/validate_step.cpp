#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/program/answer_output.hpp"
#include "cli/program/budget.hpp"
#include "cli/program/command_line.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "cli/program/shell_line.hpp"
#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/calibration/kernel_law.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "report/answer/charts.hpp"
#include "report/console/console.hpp"
#include "report/text/json_text.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/overrides.hpp"
#include "sim/study/simulate.hpp"
#include "validate/accuracy/samples/sample_accuracy.hpp"
#include "validate/commands/validate_commands.hpp"
#include "validate/harness/step/mlp_measure.hpp"
#include "validate/pages/execution_answer.hpp"

namespace windtunnel {
namespace {

struct StepOptions {
  std::string scenario;
  std::string calibration;
  std::vector<std::string> set;
  std::vector<std::string> vary;
  std::string budget = "20 s";
  double fail_above = std::numeric_limits<double>::infinity();
  AnswerOutput output;
};

struct PredictedStep {
  double step_s = 0;
  double slower = 0;             // counted in: by others beside the measured steps; 0: not known
  double low_s = 0, high_s = 0;  // 90 %; 0: no laws tell it
  StepSeconds phases;
  double other_s = 0;
  double naive_s = 0;  // FLOPs and bytes at the rates of large works; 0: no laws tell them
};

struct JudgedStep {
  Overrides set;
  Case the_case;
  MeasuredStep measured;
  PredictedStep predicted;

  double error() const { return predicted.step_s / measured.step.median_s - 1; }
};

// What the largest products, copies and messages reach, for all FLOPs and bytes of the step.
double naive_s(const KernelSteps& work, const DeviceRates& rates) {
  if (rates.flops <= 0 || rates.memory_Bps <= 0 || rates.port_Bps <= 0) return 0;
  double seconds = 0;
  for (const std::vector<KernelWork>& step : work) {
    for (const KernelWork& one : step) {
      const KernelKind& kind = kernel_kind(one.kernel);
      const double bytes = kind.bytes(one);
      if (kind.family == KernelFamily::matrix) {
        seconds += kind.flops(one) / rates.flops;
      } else if (kind.family == KernelFamily::collective) {
        const double passes = one.kernel == "all-reduce-ring" ? 2 : 1;
        seconds += passes * (one.ranks - 1) / one.ranks * bytes / rates.port_Bps;
      } else {
        seconds += bytes / rates.memory_Bps;
      }
    }
  }
  return seconds;
}

PredictedStep predicted_step(const Case& the_case, const MeasuredStep& measured) {
  const Record record = simulate(the_case);
  const auto of = [&](Category category) {
    return record.iteration.critical_path_s[static_cast<std::size_t>(category)];
  };
  PredictedStep predicted;
  predicted.step_s = record.iteration.time_s;
  predicted.phases.of(StepPhase::forward) = of(Category::forward);
  predicted.phases.of(StepPhase::backward) = of(Category::backward);
  predicted.phases.of(StepPhase::compress) = of(Category::compression);
  predicted.phases.of(StepPhase::communicate) = of(Category::dp);
  predicted.phases.of(StepPhase::optimizer) = of(Category::optimizer);
  predicted.other_s = predicted.step_s - predicted.phases.total();
  const KernelLaws& laws = the_case.job.calibration.kernel_laws;
  if (laws.laws.empty()) return predicted;
  predicted.naive_s = naive_s(measured.work, device_rates(laws));
  try {
    // How far laws are off, and how much longer works take beside others, by those of the step; the
    // prediction is the simulator's, of whole cores.
    const auto time_at = [&](double disturbed) {
      return predicted_time(measured.work, laws, CacheState::cold, disturbed);
    };
    const PredictedTime time = time_at(measured.disturbed);
    predicted.slower = time.seconds / time_at(0).seconds;
    predicted.step_s *= predicted.slower;
    predicted.other_s *= predicted.slower;
    for (double& seconds : predicted.phases.by_phase) seconds *= predicted.slower;
    predicted.low_s = predicted.step_s * time.low_s / time.seconds;
    predicted.high_s = predicted.step_s * time.high_s / time.seconds;
  } catch (const Error&) {
    // A kernel that was not measured: nobody knows.
  }
  return predicted;
}

std::string disturbance_text(const MeasuredStep& measured, const PredictedStep& predicted) {
  if (measured.steps == measured.all_steps && measured.disturbed == 0) return "";
  const std::string slower = predicted.slower > 0
                                 ? fmt::format("predicted {:.2f} times as long", predicted.slower)
                                 : "not known how much longer that makes them";
  return fmt::format("{} of the steps count, others on the cores for {:.0f} % of their time: {}",
                     measured.steps, 100 * measured.disturbed, slower);
}

TextTable phases_table(const JudgedStep& step) {
  const MeasuredStep& measured = step.measured;
  const PredictedStep& predicted = step.predicted;
  TextTable table{
      {{""}, {"measured", Align::right}, {"predicted", Align::right}, {"error", Align::right}}, {}};
  const auto text = [](double seconds) { return seconds > 0 ? format_seconds(seconds) : ""; };
  const auto add = [&](std::string_view name, double measured_s, double predicted_s) {
    const bool judged = measured_s > 0 && predicted_s > 0;
    table.rows.push_back({std::string(name), text(measured_s), text(predicted_s),
                          judged ? signed_percent(predicted_s / measured_s - 1) : ""});
  };
  const auto add_end = [&](std::string_view name, double measured_s, double predicted_s) {
    table.rows.push_back({std::string(name), text(measured_s),
                          predicted_s > 0 ? format_seconds(predicted_s) : "not known", ""});
  };
  add("step", measured.step.median_s, predicted.step_s);
  add_end("from", measured.step.low_s, predicted.low_s);
  add_end("to", measured.step.high_s, predicted.high_s);
  for (std::size_t i = 0; i < kStepPhases.size(); ++i) {
    const double measured_s = measured.phases.by_phase[i];
    const double predicted_s = predicted.phases.by_phase[i];
    if (measured_s > 0 || predicted_s > 0) add(kStepPhases[i], measured_s, predicted_s);
    const bool waits = static_cast<StepPhase>(i) == StepPhase::communicate;
    if (waits && measured.waiting_s > 0) add("of it waiting", measured.waiting_s, 0);
  }
  if (predicted.other_s > 1e-9) add("other", 0, predicted.other_s);
  if (predicted.naive_s > 0) {
    table.rows.push_back({"by the highest rates", "", format_seconds(predicted.naive_s),
                          signed_percent(predicted.naive_s / measured.step.median_s - 1)});
  }
  return table;
}

Json steps_chart(const std::vector<JudgedStep>& steps) {
  RangeChart chart{.title = "Step time, measured and predicted",
                   .note =
                       "Measured: the median, with its 95 % interval. Predicted: with its 90 % "
                       "interval where every kernel has a law.",
                   .axis = {"step time", Unit::seconds},
                   .items = {}};
  for (const JudgedStep& step : steps) {
    const SeriesSummary& of = step.measured.step;
    chart.items.push_back({.name = "measured",
                           .value = {.mean = of.median_s, .low = of.low_s, .high = of.high_s},
                           .group = set_text(step.set),
                           .best = true});
    const PredictedStep& by = step.predicted;
    const bool known = by.low_s > 0;
    chart.items.push_back({.name = fmt::format("predicted, {} off", signed_percent(step.error())),
                           .value = {.mean = by.step_s,
                                     .low = known ? by.low_s : by.step_s,
                                     .high = known ? by.high_s : by.step_s},
                           .group = set_text(step.set)});
  }
  return chart_json(chart);
}

Json phases_document(const StepSeconds& phases) {
  Json document;
  for (std::size_t i = 0; i < kStepPhases.size(); ++i) {
    document[fmt::format("{}_s", kStepPhases[i])] = phases.by_phase[i];
  }
  return document;
}

Json document_of(const JudgedStep& step) {
  Json set = Json::object();
  for (const auto& [key, value] : step.set) set[key] = value;
  const MeasuredStep& measured = step.measured;
  const PredictedStep& predicted = step.predicted;
  Json document;
  document["scenario"] = step.the_case.scenario;
  document["set"] = set;
  document["ranks"] = step.the_case.job.layout.dp;
  document["measured"] = {{"steps", measured.steps},
                          {"all_steps", measured.all_steps},
                          {"disturbed", measured.disturbed},
                          {"step_s", measured.step.median_s},
                          {"low_s", measured.step.low_s},
                          {"high_s", measured.step.high_s},
                          {"p05_s", measured.step.p05_s},
                          {"p95_s", measured.step.p95_s},
                          {"phases", phases_document(measured.phases)},
                          {"waiting_s", measured.waiting_s},
                          {"work", to_text(measured.work)}};
  const auto known = [](double seconds) { return seconds > 0 ? Json(seconds) : Json(nullptr); };
  document["predicted"] = {{"step_s", predicted.step_s},
                           {"slower", known(predicted.slower)},
                           {"low_s", known(predicted.low_s)},
                           {"high_s", known(predicted.high_s)},
                           {"phases", phases_document(predicted.phases)},
                           {"other_s", predicted.other_s},
                           {"highest_rates_s", known(predicted.naive_s)}};
  document["error"] = step.error();
  return document;
}

// The command that measures it again.
std::string step_command(const StepOptions& options) {
  std::string command = fmt::format("windtunnel validate step {}", shell_word(options.scenario));
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!value.empty()) command += fmt::format(" {} {}", option, shell_word(value));
  };
  add("--calibration", options.calibration);
  for (const std::string& set : options.set) add("--set", set);
  for (const std::string& vary : options.vary) add("--vary", vary);
  for (const auto& [option, file] : options.output.files) add(option, file);
  return command;
}

Answer answer_of(const std::vector<JudgedStep>& steps, const StepOptions& options) {
  const JudgedStep& first = steps.front();
  Answer answer{.title = fmt::format("{}, measured on this machine", first.the_case.scenario),
                .subtitle = step_command(options),
                .figures = {{"step, measured", format_seconds(first.measured.step.median_s),
                             fmt::format("median of {} steps", first.measured.steps)},
                            {"step, predicted", format_seconds(first.predicted.step_s)},
                            {"error", signed_percent(first.error()), set_text(first.set)}},
                .sections = {chart_section([&] { return steps_chart(steps); })},
                .kind = "validate-step",
                .document = [&] {
                  Json documents = Json::array();
                  for (const JudgedStep& step : steps) documents.push_back(document_of(step));
                  return documents;
                }};
  for (const JudgedStep& step : steps) {
    answer.sections.push_back({fmt::format("{}: {} ranks, {} steps", set_text(step.set),
                                           step.the_case.job.layout.dp, step.measured.all_steps),
                               {},
                               phases_table(step)});
    std::string disturbed = disturbance_text(step.measured, step.predicted);
    if (!disturbed.empty()) answer.sections.back().rows = {{"disturbed", std::move(disturbed)}};
  }
  return answer;
}

// As a scenario names it, whose paths start at its own folder. What is wrong with it is told of the
// path that was typed.
std::string calibration_value(const std::string& typed) {
  if (typed == "auto") return typed;
  const bool is_file = typed.ends_with(".yaml");
  if (is_file && !std::filesystem::exists(typed)) {
    throw Error(Location{typed}, fmt::format("--calibration: no such file; 'windtunnel calibrate "
                                             "--backend cpu --ranks N --out {}' measures one",
                                             typed));
  }
  try {
    calibration_of(typed);
  } catch (const Error& error) {
    throw Error(fmt::format("--calibration: {}", error.what()), error.code());
  }
  return is_file ? std::filesystem::absolute(typed).string() : typed;
}

std::vector<JudgedStep> read_steps(const StepOptions& options) {
  Overrides common = parse_overrides(options.set);
  if (!options.calibration.empty()) {
    common.emplace_back("calibration", calibration_value(options.calibration));
  }
  const LoadedScenario scenario = load_scenario(options.scenario, common);
  std::vector<JudgedStep> steps;
  for (const Overrides& point : cross_product(parse_varied(options.vary))) {
    JudgedStep step;
    step.set = parse_overrides(options.set);
    step.set.insert(step.set.end(), point.begin(), point.end());
    try {
      step.the_case = scenario.at(point);
    } catch (const Error& error) {
      throw as_varied(error, point);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

// All points are checked before the first is measured, and measured before the first is simulated:
// ranks are forked from a process of one thread.
ExitCode run(const StepOptions& options) {
  const double budget_s = budget_of(options.budget);
  std::vector<JudgedStep> steps = read_steps(options);
  std::vector<MlpPlan> plans;
  for (const JudgedStep& step : steps) plans.push_back(mlp_plan(step.the_case.job));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].measured = measure_mlp_step(plans[i], budget_s);
  }
  bool within = true;
  for (JudgedStep& step : steps) {
    step.predicted = predicted_step(step.the_case, step.measured);
    within = within && std::abs(step.error()) <= options.fail_above;
  }
  hand_out(answer_of(steps, options), options.output);
  return within ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

ValidationCommand define_validate_step(CLI::App& validate) {
  auto options = std::make_shared<StepOptions>();
  CLI::App* app = validate.add_subcommand(
      "step",
      "a data-parallel step of linear layers run on this machine's cores, one process "
      "each, against its simulation");
  app->add_option("SCENARIO", options->scenario, "scenario file (YAML), as scenarios/mlp-cpu.yaml")
      ->required();
  app->add_option("--calibration", options->calibration,
                  "what windtunnel calibrate --backend cpu --ranks wrote, in place of the "
                  "scenario's")
      ->type_name("NAME|FILE");
  CommandLine(*app).add_set(options->set);
  app->add_option("--vary", options->vary, "one step for each value; may be repeated")
      ->type_name("KEY=A,B,...")
      ->allow_extra_args(false);
  app->add_option("--budget", options->budget, "time to measure each step (default: 20 s)")
      ->type_name("TIME");
  app->add_option("--fail-above", options->fail_above,
                  "exit with 1 if a step's error exceeds this share")
      ->type_name("SHARE")
      ->check(number_in(0.0, 1e6));
  add_answer_output(*app, options->output);
  add_example(*app, "scenarios/mlp-cpu.yaml --calibration node.yaml");
  return {app, [options] { return run(*options); }};
}

}  // namespace windtunnel
