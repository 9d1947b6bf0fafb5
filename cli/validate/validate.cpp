// windtunnel validate: predicted against measured rows of CSV files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "cli/program/command.hpp"
#include "cli/program/output.hpp"
#include "cli/validate/validate_samples.hpp"
#include "cli/validate/validate_step.hpp"
#include "cli/validate/verdict.hpp"
#include "report/validation/collective_validation.hpp"
#include "report/validation/compression_validation.hpp"
#include "report/validation/fault_validation.hpp"
#include "report/validation/pair_validation.hpp"
#include "report/validation/run_validation.hpp"
#include "report/validation/validation.hpp"
#include "report/validation/validation_rows.hpp"
#include "scenarios/language/library/facts/measured_runs.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document.hpp"
#include "traces/nccl/nccl_tests.hpp"
#include "traces/rows/compression_rows.hpp"
#include "traces/rows/fault_points.hpp"
#include "traces/rows/stage_profile.hpp"
#include "validate/accuracy/collectives/collective_accuracy.hpp"
#include "validate/accuracy/compression/compression.hpp"
#include "validate/accuracy/faults/faults.hpp"
#include "validate/accuracy/pairs/pair_spread.hpp"
#include "validate/accuracy/runs/profiled_runs.hpp"
#include "validate/accuracy/runs/runs.hpp"
#include "validate/accuracy/schedules/schedule_accuracy.hpp"

namespace windtunnel {
namespace {

struct ValidateOptions : VerdictOptions {
  std::vector<std::string> files;
  // Training runs and collectives.
  std::string where;
  std::string fit_where;
  std::vector<std::string> calibrate_on;
  std::string calibration;
  bool one_point = false;
  std::string measured;  // where the library's table of training runs goes; empty: nowhere
  LogContext log;        // collectives
  bool pairs = false;
  int worst = 5;
  int threads = 0;
};

Validation against_schedules(const ValidateOptions& options) {
  const ValidationReport report = validate_schedules(options.files);
  return {.text = validation_text(report, options.width()),
          .document = validation_document(report),
          .verdict = verdict_of(report, options.fail_above, "")};
}

std::optional<RowFilter> filter_of(const std::string& expression, const char* option) {
  if (expression.empty()) return std::nullopt;
  return RowFilter::parse(expression, option);
}

template <class Read>
auto read_files(const std::vector<std::string>& paths, const Read& read) {
  std::vector<decltype(read(std::string()))> files;
  for (const std::string& path : paths) files.push_back(read(path));
  return files;
}

std::vector<TrainingRuns> read_all(const std::vector<std::string>& paths) {
  return read_files(paths, read_training_runs);
}

RunsOptions runs_options(const ValidateOptions& options) {
  RunsOptions runs;
  runs.where = filter_of(options.where, "--where");
  runs.fit_where = filter_of(options.fit_where, "--fit-where");
  runs.calibrate_on = read_all(options.calibrate_on);
  if (!options.calibration.empty()) runs.calibration = calibration_of(options.calibration);
  runs.one_point = options.one_point;
  runs.threads = options.threads;
  return runs;
}

// What to type to make the page again, files without folders.
std::string command_of(const ValidateOptions& options, const char* what) {
  std::string command = fmt::format("windtunnel validate {}", what);
  for (const std::string& file : options.files) command += " " + without_folder(file);
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) command += fmt::format(" {} {}", option, value);
  };
  const auto add_quoted = [&](const char* option, const std::string& value) {
    const char quote = value.find('\'') == std::string::npos ? '\'' : '"';
    if (!value.empty()) command += fmt::format(" {} {}{}{}", option, quote, value, quote);
  };
  add_quoted("--where", options.where);
  add_quoted("--fit-where", options.fit_where);
  for (const std::string& file : options.calibrate_on) add("--calibrate-on", without_folder(file));
  add("--calibration", without_folder(options.calibration));
  add_quoted("--machine", options.log.machine);
  add_quoted("--network", options.log.network);
  add("--collective", options.log.collective);
  if (options.one_point) command += " --one-point";
  add("--markdown", without_folder(options.markdown));
  return command;
}

// From measured stage times, where --calibrate-on names a file of them.
Validation against_profiled_runs(const ValidateOptions& options) {
  std::vector<StageProfiles> profiles;
  for (const std::string& path : options.calibrate_on) {
    if (!holds_stage_profiles(path)) {
      throw Error(Location{path},
                  "holds no stage profiles (column T_F_ms), unlike another file of --calibrate-on");
    }
    profiles.push_back(read_stage_profiles(path));
  }
  if (!options.fit_where.empty() || !options.calibration.empty()) {
    throw Error("--fit-where and --calibration have no meaning with a file of stage profiles");
  }
  const ValidationReport report = validate_profiled_runs(
      read_all(options.files), profiles, {.where = filter_of(options.where, "--where")});
  return {.text = validation_text(report, options.width()),
          .document = validation_document(report),
          .verdict = verdict_of(report, options.fail_above, "speed_ratio")};
}

Validation against_runs(const ValidateOptions& options) {
  if (std::any_of(options.calibrate_on.begin(), options.calibrate_on.end(), holds_stage_profiles)) {
    return against_profiled_runs(options);
  }
  RunsOptions runs = runs_options(options);
  const std::vector<TrainingRuns> files = read_all(options.files);
  ValidationReport report;
  {
    Progress progress;
    runs.progress = [&](size_t done, size_t all) {
      if (done % 50 == 0) progress.show(fmt::format("{} of {} rows", done, all));
    };
    report = validate_runs(files, closed_predictor(options.threads), runs);
  }
  if (!options.measured.empty()) {
    write_file(options.measured, measured_runs_text(report.measured));
  }
  return {.text = runs_text(report, options.worst, options.width()),
          .document = validation_document(report),
          .page = runs_page(report, command_of(options, "runs")),
          .verdict = verdict_of(report, options.fail_above, "step_s")};
}

std::vector<CollectiveRows> read_logs(const std::vector<std::string>& paths,
                                      const LogContext& log) {
  return read_files(paths, [&](const std::string& path) { return read_collectives(path, log); });
}

std::string pairs_verdict(const PairSpread& spread, double fail_above) {
  double worst = 0;
  for (const PairSpreadMachine& machine : spread.machines) {
    for (const PairSeriesSpread& series : machine.series) {
      if (!series.fitted) worst = std::max(worst, series.error());
    }
  }
  if (worst <= fail_above) return "";
  return fmt::format("a series' quantiles are off by {:.4g}, above {:g}\n", worst, fail_above);
}

Validation against_pairs(const ValidateOptions& options) {
  CollectiveRows all;
  for (const CollectiveRows& file : read_logs(options.files, options.log)) {
    all.path += (all.path.empty() ? "" : ", ") + file.path;
    all.rows.insert(all.rows.end(), file.rows.begin(), file.rows.end());
    all.unreadable.insert(all.unreadable.end(), file.unreadable.begin(), file.unreadable.end());
  }
  const PairSpread spread = validate_pairs(all);
  return {.text = pairs_text(spread, options.width()),
          .document = pairs_document(spread),
          .verdict = pairs_verdict(spread, options.fail_above)};
}

Validation against_collectives(const ValidateOptions& options) {
  if (options.pairs) return against_pairs(options);
  CollectivesOptions collectives;
  collectives.where = filter_of(options.where, "--where");
  collectives.fit_where = filter_of(options.fit_where, "--fit-where");
  collectives.calibrate_on = read_logs(options.calibrate_on, options.log);
  if (!options.calibration.empty()) collectives.calibration = calibration_of(options.calibration);
  collectives.threads = options.threads;
  const CollectivesReport report =
      validate_collectives(read_logs(options.files, options.log), collectives);
  return {.text = collectives_text(report, options.worst, options.width()),
          .document = validation_document(report.report),
          .page = collectives_page(report, command_of(options, "collectives")),
          .verdict = verdict_of(report.report, options.fail_above, "time_s")};
}

std::vector<CompressionRuns> exchanges_to_fit_on(const std::vector<std::string>& paths) {
  CompressionFiles files = read_compression_files(paths);
  if (files.quantised.empty()) return std::move(files.runs);
  throw Error(Location{files.quantised.front().file()},
              "--calibrate-on: holds quantised all-reduces (column bytes_fp16), and the links are "
              "fitted on steps of training; name it beside the files that are judged");
}

Validation against_compression(const ValidateOptions& options) {
  const CompressionValidation validation =
      validate_compression(read_compression_files(options.files),
                           {.where = filter_of(options.where, "--where"),
                            .fit_where = filter_of(options.fit_where, "--fit-where"),
                            .calibrate_on = exchanges_to_fit_on(options.calibrate_on),
                            .threads = options.threads});
  return {.text = compression_text(validation, options.worst, options.width()),
          .document = compression_document(validation),
          .page = compression_page(validation, command_of(options, "compression")),
          .verdict = verdict_of(validation.report, options.fail_above, "step_s")};
}

// Values outside their range are few and each counts: their share is judged, not their distance.
std::string faults_verdict(const FaultValidation& validation, double fail_above) {
  if (fail_above == std::numeric_limits<double>::infinity()) return "";
  std::vector<std::string> outside;
  for (const FaultPrediction& row : validation.predictions) {
    if (!row.inside()) outside.push_back(row.name);
  }
  const size_t rows = validation.predictions.size();
  if (rows == 0) return "--fail-above: no row was predicted\n";
  const double share = static_cast<double>(outside.size()) / static_cast<double>(rows);
  if (share <= fail_above) return "";
  return fmt::format("{:.4g} of the values are outside ({}), above {:g}\n", share,
                     fmt::join(outside, ", "), fail_above);
}

Validation against_faults(const ValidateOptions& options) {
  const FaultValidation validation =
      validate_faults(read_files(options.files, read_fault_points),
                      {.where = filter_of(options.where, "--where"), .threads = options.threads});
  return {.text = faults_text(validation, options.width()),
          .document = faults_document(validation),
          .page = faults_page(validation, command_of(options, "faults")),
          .verdict = faults_verdict(validation, options.fail_above)};
}

void add_where(CLI::App& app, ValidateOptions& options, const char* example) {
  app.add_option("--where", options.where,
                 fmt::format("judge only these rows, as in '{}'", example))
      ->type_name("EXPR");
}

void add_worst(CLI::App& app, ValidateOptions& options) {
  app.add_option("--worst", options.worst, "print so many rows of the largest error (default: 5)")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000));
}

void add_threads(CLI::App& app, ValidateOptions& options) {
  app.add_option("-j", options.threads, "threads (default: all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
}

void add_markdown(CLI::App& app, ValidateOptions& options, const char* help) {
  app.add_option("--markdown", options.markdown, help)->type_name("FILE");
}

CLI::App* define_schedules(CLI::App& app, ValidateOptions& options) {
  CLI::App* schedules = app.add_subcommand(
      "schedules", "pipeline schedules against published bubble rates or reference makespans");
  schedules->add_option("FILE", options.files, "measured rows (CSV)")->required();
  add_verdict(*schedules, options, "a family");
  add_example(*schedules, "rows.csv --fail-above 0.02");
  return schedules;
}

// What is judged, fitted on and started from.
struct FitFlags {
  CLI::Option* fit_where;
  CLI::Option* calibrate_on;
};
FitFlags add_fit_options(CLI::App& app, ValidateOptions& options, const char* example,
                         const char* calibrate_on, const char* calibration) {
  add_where(app, options, example);
  FitFlags flags{};
  flags.fit_where =
      app.add_option("--fit-where", options.fit_where,
                     "fit the calibration on these rows, freeze it, and do not judge them")
          ->type_name("EXPR");
  flags.calibrate_on = app.add_option("--calibrate-on", options.calibrate_on, calibrate_on)
                           ->type_name("FILE")
                           ->allow_extra_args(false);
  app.add_option("--calibration", options.calibration, calibration)->type_name("NAME|FILE");
  add_worst(app, options);
  add_threads(app, options);
  return flags;
}

CLI::App* define_collectives(CLI::App& app, ValidateOptions& options) {
  CLI::App* collectives =
      app.add_subcommand("collectives", "time of collectives against rows or logs of nccl-tests");
  collectives->add_option("FILE", options.files, "rows (CSV), or the tool's output (text or JSON)")
      ->required();
  add_verdict(*collectives, options, "a family");
  add_fit_options(
      *collectives, options, "gpus>64 && collective==\"all_reduce\"",
      "fit on the rows of this file (those of --fit-where); may be repeated",
      "of the library or a .yaml file, to start from instead of that of each row's GPU");
  collectives->add_option("--machine", options.log.machine, "what to call the machine of a log")
      ->type_name("LABEL");
  collectives
      ->add_option("--network", options.log.network,
                   "network of a log's machine, as in 'InfiniBand NDR 8x400Gb/s/node'")
      ->type_name("TEXT");
  collectives
      ->add_option("--collective", options.log.collective,
                   "which collective the logs are of, as in all-reduce (default: as they say)")
      ->type_name("NAME");
  add_markdown(*collectives, options,
               "write a page with every miss above 35 % and every row not used");
  CLI::Option* pairs = collectives->add_flag(
      "--pairs", options.pairs,
      "fit what makes pairs of nodes differ on every other size, and judge the quantiles over "
      "pairs at the rest; --fail-above is then the most that any may be off");
  for (const char* other :
       {"--where", "--fit-where", "--calibrate-on", "--calibration", "--worst", "--markdown"}) {
    pairs->excludes(collectives->get_option(other));
  }
  add_example(*collectives, "all_reduce.log --machine my-cluster --collective all-reduce");
  return collectives;
}

CLI::App* define_runs(CLI::App& app, ValidateOptions& options) {
  CLI::App* runs =
      app.add_subcommand("runs", "step time and memory of training jobs against measured ones");
  runs->add_option("FILE", options.files, "measured rows (CSV)")->required();
  add_verdict(*runs, options, "a family's step time");
  const FitFlags flags = add_fit_options(
      *runs, options, "gpus>64 && source~\"vTrain\"",
      "fit on the rows of this file (those of --fit-where), or predict from the stage times that "
      "it holds (columns T_F_ms ...); may be repeated",
      "of the library or a .yaml file, instead of that of each row's GPU");
  runs->add_flag("--one-point", options.one_point,
                 "fit kernel.sustained on the middle row of each family, judge the others")
      ->excludes(flags.fit_where)
      ->excludes(flags.calibrate_on);
  add_markdown(*runs, options,
               "write a page with every miss above 20 % and every row not predicted");
  runs->add_option("--measured", options.measured,
                   "write the families and how far each was off, as the library's "
                   "measured_runs.yaml has them, by which intervals of unlike jobs are widened")
      ->type_name("FILE");
  add_example(*runs, "runs.csv --where 'gpus>64' --markdown page.md");
  return runs;
}

CLI::App* define_compression(CLI::App& app, ValidateOptions& options) {
  CLI::App* compression = app.add_subcommand(
      "compression",
      "steps of data-parallel training by how gradients are exchanged: overlapped, merged, "
      "compressed");
  compression
      ->add_option("FILE", options.files,
                   "measured steps, or times of quantised all-reduces (CSV), as the header says")
      ->required();
  add_verdict(*compression, options, "a family's step time");
  add_where(*compression, options, "gpus>8 && method~\"WFBP\"");
  compression
      ->add_option("--fit-where", options.fit_where,
                   fmt::format("fit the links on these rows, and do not judge them (default: {}; "
                               "with --calibrate-on all its rows)",
                               kLinkFitRows))
      ->type_name("EXPR");
  compression
      ->add_option("--calibrate-on", options.calibrate_on,
                   "fit the links on the rows of this file (those of --fit-where), and judge none "
                   "of it; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_worst(*compression, options);
  add_markdown(*compression, options,
               "write a page with every miss above 10 % and every reason not to predict");
  add_threads(*compression, options);
  add_example(*compression, "steps.csv --fit-where 'method~\"WFBP\"'");
  return compression;
}

CLI::App* define_faults(CLI::App& app, ValidateOptions& options) {
  CLI::App* faults = app.add_subcommand(
      "faults",
      "goodput, failure rates and saves of published jobs, as ranges over what their "
      "sources do not state");
  faults->add_option("FILE", options.files, "reference points (CSV)")->required();
  faults->add_flag("--json", options.json, "print one JSON document on stdout, text on stderr");
  faults
      ->add_option("--fail-above", options.fail_above,
                   "exit with 1 if more than this share of the values lies outside its range")
      ->type_name("SHARE")
      ->check(number_in(0.0, 1.0));
  add_where(*faults, options, "id~\"RSC\"");
  add_markdown(*faults, options, "write the same as a page");
  add_threads(*faults, options);
  add_example(*faults, "points.csv --fail-above 0.1");
  return faults;
}

}  // namespace

Handler define_validate(CLI::App& app) {
  auto options = std::make_shared<ValidateOptions>();
  const auto kind = [options](CLI::App* command, Validation (*run)(const ValidateOptions&)) {
    return ValidationCommand{command, [options, run, name = command->get_name()] {
                               return conclude(name, run(*options), *options);
                             }};
  };
  const std::vector<ValidationCommand> commands = {
      kind(define_schedules(app, *options), against_schedules),
      kind(define_faults(app, *options), against_faults),
      kind(define_collectives(app, *options), against_collectives),
      kind(define_compression(app, *options), against_compression),
      define_validate_samples(app),
      define_validate_step(app),
      kind(define_runs(app, *options), against_runs)};
  add_example(app, "runs runs.csv --worst 10");
  app.require_subcommand(1);
  return [commands] {
    return std::ranges::find_if(
               commands, [](const ValidationCommand& each) { return each.command->parsed(); })
        ->run();
  };
}

}  // namespace windtunnel
