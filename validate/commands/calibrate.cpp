// windtunnel calibrate: fits a calibration to measured step times or timings of collectives, as a
// file for scenarios.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/output.hpp"
#include "models/base/units.hpp"
#include "report/figures/figure_text.hpp"
#include "report/json/json.hpp"
#include "report/text/table.hpp"
#include "scenarios/language/library/calibration_writer.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/evidence.hpp"
#include "traces/logs/training_log.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/runs/fit_rows.hpp"
#include "validate/accuracy/runs/run_job.hpp"
#include "validate/commands/calibrate_collectives.hpp"
#include "validate/commands/calibrate_kernels.hpp"
#include "validate/commands/validate_commands.hpp"
#include "validate/pages/calibration_answer.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

struct CalibrateOptions : DeviceCalibration {
  std::vector<std::string> from;
  std::string where;
  std::string gpu;
  std::vector<std::string> machines;  // of timings of collectives
  std::vector<std::string> networks;
  std::vector<std::string> collectives;
  std::vector<std::string> fit;
  std::vector<std::string> fix;
  std::string origin = "measured";  // of the rows
  int threads = 0;
  AnswerOutput answer;
};

Calibration base_of(const CalibrateOptions& options, const FitInput& input) {
  if (options.base.empty()) return input.rows.front().job.calibration;  // the library's
  return calibration_of(options.base);
}

FittedOn rows_of(const CalibrateOptions& options) {
  return {fs::path(options.from.front()).filename().string(), options.where};
}

std::string source_of(const FittedOn& rows) {
  return rows.where.empty() ? rows.file : fmt::format("{} where {}", rows.file, rows.where);
}

RunFit fit(const CalibrateOptions& options, const FitInput& input, const Calibration& base) {
  Progress progress;
  progress.show(fmt::format("fitting on {} rows", input.rows.size()));
  FitOptions fit_options;
  fit_options.only = options.fit;
  fit_options.fixed = options.fix;
  fit_options.threads = options.threads;
  fit_options.fitted_on = rows_of(options);
  fit_options.source = source_of(fit_options.fitted_on);
  fit_options.origin = parse_origin(options.origin, {});
  RunFit fit = fit_runs(input.rows, base, fit_options);
  fit.unusable.insert(fit.unusable.begin(), input.unusable.begin(), input.unusable.end());
  fit.calibration.name = fs::path(options.out).stem().string();
  fit.calibration.gpu = input.gpu;
  return fit;
}

std::string interval_text(const Parameter& parameter, std::string_view unit) {
  return fmt::format("{} ({} to {})", value_text(parameter.value, unit),
                     value_text(parameter.low, unit), value_text(parameter.high, unit));
}

std::string_view unit_of(std::string_view name) {
  for (const CalibrationField& field : calibration_fields()) {
    if (field.name == name) return field.unit;
  }
  CHECK(false, "no parameter {}", name);
}

TextTable parameters_table(const RunFit& fit, const Calibration& base) {
  TextTable table = titled_table("parameter | before | fitted (90 % interval) | origin");
  const auto add = [&](std::string_view name, const Parameter& before, const Parameter& after) {
    const std::string_view unit = unit_of(name);
    table.rows.push_back({std::string(name), interval_text(before, unit),
                          interval_text(after, unit), to_string(after.origin)});
  };
  for (const FittedParameter& each : fit.fitted) add(each.name, each.prior, each.fitted);
  if (fit.folds > 0) add("error.step", base.step_error, fit.calibration.step_error);
  if (fit.memory_rows > 0) add("error.memory", base.memory_error, fit.calibration.memory_error);
  return table;
}

// Returns a warning if fitted values lie outside their priors, otherwise "".
std::string outside_text(const RunFit& fit) {
  std::vector<std::string_view> outside;
  for (const FittedParameter& each : fit.fitted) {
    const double value = each.fitted.value;
    if (value < each.prior.low || value > each.prior.high) outside.push_back(each.name);
  }
  if (outside.empty()) return "";
  return fmt::format(
      "Outside of the interval before the fit: {}; these may compensate for effects that the model "
      "lacks.",
      fmt::join(outside, ", "));
}

// Returns a warning if there are fewer rows than fitted values, otherwise "".
std::string few_rows_text(const RunFit& fit, const FitInput& input) {
  if (fit.rows >= std::ssize(fit.fitted)) return "";
  std::string text = fmt::format(
      "{} cannot tell {} fitted values apart, so predictions of other jobs may become worse{}.",
      counted(fit.rows, "row"), fit.fitted.size(),
      fit.folds == 0 ? ", and no row could be left out to measure by how much" : "");
  if (input.by_scenario) return text;
  return text +
         " Flags that no column states are taken as the source usually sets them, and the fit "
         "makes up for the difference; a column `scenario` that names the job's file states all "
         "of them (docs/reference/rows.md).";
}

// Lists the rows with predictions after and before the fit. Only a page shows these; the console
// shows which rows are not used.
ValidationReport fitted_rows(const CalibrateOptions& options, const FitInput& input,
                             const Calibration& base, const RunFit& fit) {
  ValidationReport report;
  for (const UnusableRow& row : fit.unusable) report.skipped.push_back({row.id, row.reason});
  if (!options.answer.has_files()) return report;
  for (const FitRow& row : input.rows) {
    if (std::ranges::find(fit.unusable, row.id, &UnusableRow::id) != fit.unusable.end()) continue;
    const auto predicted_s = [&](const Calibration& calibration) {
      Job job = row.job;
      job.calibration = calibration;
      return predict(job).step_s;
    };
    try {
      const double after_s = predicted_s(fit.calibration);
      report.rows.push_back({.id = row.id,
                             .family = row.group,
                             .metric = "step_s",
                             .measured = row.measured_s,
                             .predicted = after_s,
                             .low = after_s,
                             .high = after_s,
                             .baselines = {{kBeforeTheFit, predicted_s(base)}},
                             .label = row.job.model.name});
    } catch (const Error& error) {
      report.skipped.push_back(skipped_row(row.id, error));
    }
  }
  summarise_families(report, {});
  return report;
}

Json report_document(const CalibrateOptions& options, const FitInput& input,
                     const Calibration& base, const RunFit& fit) {
  Json parameters = Json::array();
  for (const FittedParameter& each : fit.fitted) {
    parameters.push_back({{"name", each.name},
                          {"unit", unit_of(each.name)},
                          {"prior", parameter_json(each.prior)},
                          {"fitted", parameter_json(each.fitted)}});
  }
  Json unusable = Json::array();
  for (const UnusableRow& row : fit.unusable) {
    unusable.push_back({{"id", row.id}, {"reason", row.reason}});
  }
  return {{"out", options.out},
          {"gpu", input.gpu},
          {"base", base.name},
          {"rows", fit.rows},
          {"other_rows", input.other_rows},
          {"converged", fit.converged},
          {"residual_rms", fit.residual_rms},
          {"median_ape_before", fit.median_ape_before},
          {"median_ape_after", fit.median_ape_after},
          {"folds", fit.folds},
          {"error_step", parameter_json(fit.calibration.step_error)},
          {"parameters", parameters},
          {"without_influence", fit.without_influence},
          {"unusable", unusable}};
}

Answer answer_of(const CalibrateOptions& options, const FitInput& input, const Calibration& base,
                 const RunFit& fit) {
  FitAnswer answer{
      .answer = {.title = fmt::format("Calibration {}", fit.calibration.name),
                 .subtitle = fmt::format(
                     "{} fitted on {} ({}) of {}{}, starting from {}; written to {}", input.gpu,
                     counted(fit.rows, "row"), options.origin, source_of(rows_of(options)),
                     input.other_rows > 0 ? fmt::format(" ({} other rows)", input.other_rows) : "",
                     base.name, options.out),
                 .figures = {{"rows", std::to_string(fit.rows), "fitted on"},
                             {"median error", format_percent(fit.median_ape_after),
                              fmt::format("{} before", format_percent(fit.median_ape_before))},
                             {"residual", format_percent(fit.residual_rms), "root mean square"}},
                 .sections = {},
                 .kind = "calibrate-runs",
                 .document = [&] { return report_document(options, input, base, fit); }},
      .parameters = {"Parameters", {}, parameters_table(fit, base)},
      .rows = fitted_rows(options, input, base, fit)};
  for (const FittedParameter& each : fit.fitted) {
    answer.moved.push_back(moved_item(std::string(each.name), each.prior, each.fitted));
  }
  if (!fit.without_influence.empty()) {
    answer.parameters.rows.push_back(
        {"no row depends on these", fmt::format("{}", fmt::join(fit.without_influence, ", "))});
  }
  std::vector<std::string>& warnings = answer.answer.warnings;
  warnings = input.notes;
  if (std::string outside = outside_text(fit); !outside.empty()) {
    warnings.push_back(std::move(outside));
  }
  if (std::string few = few_rows_text(fit, input); !few.empty()) warnings.push_back(std::move(few));
  if (!fit.converged) warnings.emplace_back("The search had not converged when it was stopped.");
  return fit_answer(std::move(answer));
}

AnswerOutput output_of(const CalibrateOptions& options) {
  AnswerOutput output = options.answer;
  output.json = options.json;
  return output;
}

ExitCode calibrate_network(const CalibrateOptions& options) {
  if (!options.gpu.empty() || !options.fit.empty() || !options.fix.empty()) {
    throw Error("--gpu, --fit and --fix have no effect with timings of collectives");
  }
  return calibrate_on_collectives({.from = options.from,
                                   .where = options.where,
                                   .machines = options.machines,
                                   .networks = options.networks,
                                   .collectives = options.collectives,
                                   .base = options.base,
                                   .out = options.out,
                                   .origin = parse_origin(options.origin, {}),
                                   .force = options.force,
                                   .output = output_of(options),
                                   .threads = options.threads});
}

bool says_of_logs(const CalibrateOptions& options) {
  return !options.machines.empty() || !options.networks.empty() || !options.collectives.empty();
}

ExitCode calibrate_device(const CalibrateOptions& options) {
  if (!options.where.empty() || !options.gpu.empty() || says_of_logs(options) ||
      !options.fit.empty() || !options.fix.empty()) {
    throw Error("--where, --gpu, --machine, --network, --collective, --fit and --fix need --from");
  }
  DeviceCalibration device = options;
  device.page = options.answer.files.at("--page");
  return calibrate_on_device(device);
}

bool is_run_log(const CalibrateOptions& options) {
  const std::string& path = options.from.front();
  return options.from.size() == 1 && !path.ends_with(".csv") &&
         is_training_log(read_file(path), path);
}

void check_log(const CalibrateOptions& options) {
  if (options.scenario.empty()) {
    throw Error(Location{options.from.front()},
                "is the log of a training run: name the job that ran with --scenario JOB, a "
                "scenario or the configuration with which it was started");
  }
  if (!options.where.empty() || !options.gpu.empty()) {
    throw Error("--where and --gpu choose rows of a table; a log is a single row");
  }
}

void check_rows(const CalibrateOptions& options) {
  if (!options.scenario.empty()) {
    throw Error(Location{options.from.front()},
                "is no log of a training run, so --scenario has no effect; in a table of runs the "
                "column `scenario` names the job of each row");
  }
  const auto other = std::ranges::find_if_not(options.from, holds_collectives);
  if (other != options.from.end() && options.from.size() > 1) {
    throw Error(Location{*other},
                "contains no timings of collectives, and only these can be read from several "
                "files; give a single table of training runs, whose column `log` may name a log "
                "for each");
  }
}

ExitCode calibrate_on_rows(const CalibrateOptions& options) {
  if (options.ranks > 0 || !options.coordinator.empty()) {
    throw Error("--ranks and --coordinator need --backend");
  }
  const bool log = is_run_log(options);
  log ? check_log(options) : check_rows(options);
  if (!log && holds_collectives(options.from.front())) return calibrate_network(options);
  if (says_of_logs(options)) {
    throw Error(
        "--machine, --network and --collective apply to timings of collectives, which the file "
        "does not contain");
  }
  const FitInput input = log ? read_fit_log(options.from.front(), options.scenario)
                             : read_fit_rows(options.from.front(), options.where, options.gpu);
  const Calibration base = base_of(options, input);
  if (!base.gpu.empty() && !is_of(base, input.gpu)) {
    throw Error(fmt::format("--base: {} is a calibration of {}, but the rows are of {}", base.name,
                            base.gpu, input.gpu));
  }
  const RunFit result = fit(options, input, base);
  write_file(
      options.out,
      calibration_text(result.calibration,
                       fmt::format("Written by windtunnel calibrate from {}, starting from {}.",
                                   fs::path(options.from.front()).filename().string(), base.name)));
  hand_out(answer_of(options, input, base, result), output_of(options),
           fmt::format("\nwrote {}\n", options.out));
  return ExitCode::ok;
}

ExitCode calibrate(const CalibrateOptions& options) {
  if (options.from.empty() == options.backend.empty()) {
    throw Error(
        "give either --from ROWS.csv, to fit on rows, or --backend cpu|cuda, to measure here");
  }
  if (!options.backend.empty()) return calibrate_device(options);
  check_out(options.out, options.force);
  return calibrate_on_rows(options);
}

}  // namespace

Handler define_calibrate(const CommandLine& app) {
  auto options = std::make_shared<CalibrateOptions>();
  app.add_option(
         "--from", options->from,
         "measured training runs or collectives (CSV), output of nccl-tests, or the log of a "
         "training run; may be repeated for collectives",
         "ROWS.csv|LOG")
      .repeatable();
  add_device_options(app, *options);
  app.add_option("--where", options->where, "fit only on these rows, e.g. 'tp<=8 && pp==1'",
                 "EXPR");
  app.add_option("--gpu", options->gpu, "fit only on rows of this kind of GPU", "KIND");
  app.add_option("--machine", options->machines,
                 "for rows of collectives: fit on this machine; for a log: name of the machine. "
                 "--machine, --network and --collective may be repeated, once per log; several "
                 "machines are written to separate files",
                 "LABEL")
      .repeatable();
  app.add_option("--network", options->networks,
                 "network of a log's machine, as in 'InfiniBand NDR 8x400Gb/s/node'", "TEXT")
      .repeatable();
  app.add_option("--collective", options->collectives,
                 "the collective in a log, as in all-reduce (default: as the log or its name says)",
                 "NAME")
      .repeatable();
  app.add_option("--base", options->base,
                 "calibration to start from, by name or file (default: the library's of the GPU)",
                 "CALIBRATION");
  app.add_option("--fit", options->fit, "parameters to fit (default: all with an interval)",
                 "NAME,...")
      .separated_by(',')
      .repeatable();
  app.add_option("--fix", options->fix, "parameters that are not changed", "NAME,...")
      .separated_by(',')
      .repeatable();
  app.add_option("--origin", options->origin,
                 "origin of the rows, which fitted numbers and the evidence in the report inherit "
                 "(default: measured)",
                 "ORIGIN")
      .check(one_of("origin", {"measured", "published"}));
  add_output_options(app, *options);
  add_answer_files(app, options->answer);
  options->page_of = kernels_page;
  app.add_threads(options->threads, "threads (default: all cores)");
  add_example(app, "--from runs.csv --gpu h100 --out my-cluster.yaml");
  return [options] { return calibrate(*options); };
}

}  // namespace windtunnel
