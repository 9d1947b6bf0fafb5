#include "validate/commands/validations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "cli/program/command_line.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "cli/program/shell_line.hpp"
#include "scenarios/language/library/facts/measured_pairs.hpp"
#include "scenarios/language/library/facts/measured_runs.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/document.hpp"
#include "traces/rows/compression_rows.hpp"
#include "traces/rows/fault_points.hpp"
#include "traces/rows/stage_profile.hpp"
#include "validate/accuracy/collectives/collective_accuracy.hpp"
#include "validate/accuracy/compression/compression.hpp"
#include "validate/accuracy/faults/faults.hpp"
#include "validate/accuracy/kinds/measured_kind.hpp"
#include "validate/accuracy/pairs/pair_spread.hpp"
#include "validate/accuracy/runs/runs.hpp"
#include "validate/accuracy/schedules/schedule_accuracy.hpp"
#include "validate/documents/kind_documents.hpp"
#include "validate/documents/validation.hpp"
#include "validate/documents/validation_rows.hpp"
#include "validate/pages/validation_page.hpp"

namespace windtunnel {
namespace {

constexpr const char* kRunsTitle = "training runs";

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

// Refuses a filter that passes no row.
void check_any(const ValidateOptions& options, const ValidationReport& report) {
  const bool none = report.rows.empty() && report.labels.empty() && report.skipped.empty() &&
                    report.fitted.empty();
  if (none && !options.where.empty()) {
    throw Error(Location{"--where"}, "no row of these files matches: " + options.where,
                ExitCode::failed);
  }
}

// Builds the validation; `rows` is the page's title for the rows.
Validation judged(const ValidationReport& report, Document document, Json json, const char* rows,
                  std::string verdict) {
  return {.document = std::move(document),
          .json = std::move(json),
          .verdict = std::move(verdict),
          .report = report,
          .page = [report, rows](const std::string& command) {
            return validation_page({{rows, report}}, command);
          }};
}

// Predicts from measured stage times, if --calibrate-on names a file of them.
Validation against_profiled_runs(const ValidateOptions& options) {
  std::vector<StageProfiles> profiles;
  for (const std::string& path : options.calibrate_on) {
    if (!holds_stage_profiles(path)) {
      throw Error(
          Location{path},
          "contains no stage profiles (column T_F_ms), unlike another file of --calibrate-on");
    }
    profiles.push_back(read_stage_profiles(path));
  }
  if (!options.fit_where.empty() || !options.calibration.empty()) {
    throw Error("--fit-where and --calibration have no effect with a file of stage profiles");
  }
  if (!options.markdown.empty()) {
    throw Error(Location{"--markdown"},
                "this page cannot be written with a file of stage profiles");
  }
  const ValidationReport report = validate_profiled_runs(
      read_all(options.tables()), profiles, {.where = filter_of(options.where, "--where")});
  return judged(report, rows_document(report), validation_json(report), kRunsTitle,
                verdict_of(report, options.fail_above, "speed_ratio"));
}

// Finds "file:line"; the file may be omitted if there is only one.
const TrainingRun* row_named(const std::string& name, const std::vector<TrainingRuns>& files) {
  for (const TrainingRuns& file : files) {
    for (const TrainingRun& run : file.runs) {
      if (run.id == name || (files.size() == 1 && run.id.ends_with(":" + name))) return &run;
    }
    for (const UnusableRow& row : file.unusable) {
      const bool in_one = files.size() == 1 && row.id.find(":" + name + ":") != std::string::npos;
      if (row.id == name || row.id.starts_with(name + ":") || in_one) {
        throw Error(fmt::format("{} cannot be used: {}", row.id, row.reason));
      }
    }
  }
  return nullptr;
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
  for (const CollectiveRows& file : read_logs(options.tables(), options.log)) {
    all.path += (all.path.empty() ? "" : ", ") + file.path;
    all.rows.insert(all.rows.end(), file.rows.begin(), file.rows.end());
    all.unreadable.insert(all.unreadable.end(), file.unreadable.begin(), file.unreadable.end());
  }
  const PairSpread spread = validate_pairs(all);
  return {.document = pairs_document(spread),
          .json = pairs_json(spread),
          .verdict = pairs_verdict(spread, options.fail_above),
          .page = [spread](const std::string& command) { return pairs_page(spread, command); }};
}

std::vector<CompressionRuns> exchanges_to_fit_on(const std::vector<std::string>& paths) {
  CompressionFiles files = read_compression_files(paths);
  if (files.quantised.empty()) return std::move(files.runs);
  throw Error(Location{files.quantised.front().file()},
              "--calibrate-on: the file contains quantised all-reduces (column bytes_fp16), but "
              "links are fitted on training steps; give it as one of the files to judge");
}

// Values outside their range are few, so their share is judged rather than their distance.
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
  return fmt::format("{:.4g} of the values are outside of their ranges ({}), above {:g}\n", share,
                     fmt::join(outside, ", "), fail_above);
}

enum class FileNames { as_given, portable };

std::string command_of(const ValidateOptions& options, std::string_view what, FileNames names) {
  std::string command = fmt::format("windtunnel validate {}", what);
  const auto name = [&](std::string file) {
    while (file.size() > 1 && file.ends_with('/')) file.pop_back();
    const bool bare = names == FileNames::portable && file.starts_with('/');
    return bare ? without_folder(file) : file;
  };
  for (const std::string& file : options.files) command += " " + shell_word(name(file));
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) command += fmt::format(" {} {}", option, shell_word(value));
  };
  add("--where", options.where);
  add("--fit-where", options.fit_where);
  for (const std::string& file : options.calibrate_on) add("--calibrate-on", name(file));
  add("--calibration", name(options.calibration));
  add("--machine", options.log.machine);
  add("--network", options.log.network);
  add("--collective", options.log.collective);
  if (options.one_point) command += " --one-point";
  if (options.pairs) command += " --pairs";
  add("--markdown", name(options.markdown));
  add("--page", name(options.page));
  return command;
}

Validation against_schedules(const ValidateOptions& options) {
  const ValidationReport report = validate_schedules(options.tables());
  return judged(report, rows_document(report), validation_json(report), "pipeline schedules",
                verdict_of(report, options.fail_above, ""));
}

Validation against_runs(const ValidateOptions& options) {
  if (std::any_of(options.calibrate_on.begin(), options.calibrate_on.end(), holds_stage_profiles)) {
    return against_profiled_runs(options);
  }
  RunsOptions runs = runs_options(options);
  const std::vector<TrainingRuns> files = read_all(options.tables());
  ValidationReport report;
  {
    Progress progress;
    runs.progress = [&](size_t done, size_t all) {
      if (done % 50 == 0) progress.show(fmt::format("{} of {} rows", done, all));
    };
    report = validate_runs(files, closed_predictor(options.threads), runs);
  }
  check_any(options, report);
  if (!options.measured.empty()) {
    write_file(options.measured, measured_runs_text(report.measured));
  }
  if (!options.measured_pairs.empty()) {
    if (report.pairs.empty() || !report.pairs.back().keys.front().empty()) {
      throw Error(
          "--measured-pairs: needs blind rows of at least two publishers with pairs of runs that "
          "differ in several keys");
    }
    write_file(options.measured_pairs, measured_pairs_text(report.pairs));
  }
  return judged(report, runs_document(report, options.worst), validation_json(report), kRunsTitle,
                verdict_of(report, options.fail_above, "step_s"));
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
      validate_collectives(read_logs(options.tables(), options.log), collectives);
  check_any(options, report.report);
  return judged(report.report, collectives_document(report, options.worst),
                validation_json(report.report), "collectives",
                verdict_of(report.report, options.fail_above, "time_s"));
}

Validation against_compression(const ValidateOptions& options) {
  const CompressionValidation validation =
      validate_compression(read_compression_files(options.tables()),
                           {.where = filter_of(options.where, "--where"),
                            .fit_where = filter_of(options.fit_where, "--fit-where"),
                            .calibrate_on = exchanges_to_fit_on(options.calibrate_on),
                            .threads = options.threads});
  check_any(options, validation.report);
  return judged(validation.report, compression_document(validation, options.worst),
                compression_json(validation), "exchanges of gradients",
                verdict_of(validation.report, options.fail_above, "step_s"));
}

Validation against_faults(const ValidateOptions& options) {
  const FaultValidation validation =
      validate_faults(read_files(options.tables(), read_fault_points),
                      {.where = filter_of(options.where, "--where"), .threads = options.threads});
  check_any(options, validation.report);
  return {.document = faults_document(validation),
          .json = faults_json(validation),
          .verdict = faults_verdict(validation, options.fail_above),
          .report = validation.report,
          .page = [validation](const std::string& command) {
            return faults_validation_page(validation, command);
          }};
}

// Rows that a source marks as suspect are judged separately and do not affect the verdict.
ValidationReport without_suspects(ValidationReport report) {
  std::erase_if(report.families, [](const ValidationFamily& family) {
    return family.metric.starts_with("suspect_");
  });
  return report;
}

Validation against_rows(const MeasuredKind& kind, const ValidateOptions& options) {
  const ValidationReport report =
      kind.judge({.files = options.tables(), .where = filter_of(options.where, "--where")});
  check_any(options, report);
  return judged(report, kind_document(kind.name, report), validation_json(report),
                kind.title.c_str(), verdict_of(without_suspects(report), options.fail_above, ""));
}

void add_runs_options(CLI::App& app, ValidateOptions& options) {
  app.add_flag("--one-point", options.one_point,
               "fit kernel.sustained on the middle row of each family, and judge the others")
      ->excludes(app.get_option("--fit-where"))
      ->excludes(app.get_option("--calibrate-on"));
  app.add_option("--measured", options.measured,
                 "write the families and their errors in the form of the library's "
                 "measured_runs.yaml, which widens the intervals of dissimilar jobs")
      ->type_name("FILE");
  app.add_option("--measured-pairs", options.measured_pairs,
                 "write how far speed-ups were off, in the form of the library's "
                 "measured_pairs.yaml")
      ->type_name("FILE");
  CLI::Option* row =
      app.add_option("--scenario", options.row,
                     "judge nothing; write the scenario that predicts this row, FILE:LINE")
          ->type_name("FILE:LINE");
  // --scenario judges nothing, so options about judging and its output are refused.
  for (CLI::Option* other : app.get_options([&](const CLI::Option* option) {
         return !option->get_positional() && option != row && option != app.get_help_ptr();
       })) {
    row->excludes(other);
  }
  app.add_option("--out", options.row_file, "file for that scenario (default: stdout)")
      ->type_name("FILE")
      ->needs(row);
}

void add_collectives_options(CLI::App& app, ValidateOptions& options) {
  app.add_option("--machine", options.log.machine, "name of the machine of a log")
      ->type_name("LABEL");
  app.add_option("--network", options.log.network,
                 "network of a log's machine, as in 'InfiniBand NDR 8x400Gb/s/node'")
      ->type_name("TEXT");
  app.add_option("--collective", options.log.collective,
                 "the collective in the logs, as in all-reduce (default: as they say)")
      ->type_name("NAME");
  CLI::Option* pairs = app.add_flag(
      "--pairs", options.pairs,
      "fit the differences between pairs of nodes on every other size, and judge the quantiles "
      "over pairs at the remaining sizes; --fail-above then limits the largest error");
  for (const char* other :
       {"--where", "--fit-where", "--calibrate-on", "--calibration", "--worst", "--markdown"}) {
    pairs->excludes(app.get_option(other));
  }
}

constexpr const char* kRowFiles = "measured rows (CSV), or a folder of such files";

// Reads the header even if rows are faulty.
CsvTable header_of(const std::string& path) {
  std::vector<CsvFault> faults;
  return CsvTable::parse(read_file(path), path, &faults);
}

// Returns the list of columns by which the table is recognised; null if there is none.
const std::vector<std::string>* telling_columns(const JudgedKind& kind, const CsvTable& table) {
  const auto found =
      std::ranges::find_if(kind.columns, [&](const std::vector<std::string>& columns) {
        return std::ranges::all_of(columns, [&](const auto& column) { return table.has(column); });
      });
  return found == kind.columns.end() ? nullptr : &*found;
}

const JudgedKind* kind_of_table(const CsvTable& table) {
  const auto found = std::ranges::find_if(judged_kinds(), [&](const JudgedKind& kind) {
    return telling_columns(kind, table) != nullptr;
  });
  return found == judged_kinds().end() ? nullptr : &*found;
}

JudgedKind judged_kind(const MeasuredKind& kind) {
  return {.name = kind.name,
          .columns = {kind.columns},
          .help = kind.help,
          .files = kRowFiles,
          .bound = "a family",
          .where = kind.where,
          .markdown = "write a page with all rows, including those that cannot be predicted",
          .example = fmt::format("rows.csv --where '{}'", kind.where),
          .judge = [&kind](const auto& options) { return against_rows(kind, options); }};
}

}  // namespace

void add_threads(CLI::App& app, ValidateOptions& options) {
  CommandLine(app).add_threads(options.threads, "threads (default: all cores)");
}

std::vector<std::string> tables_in(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> tables;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".csv") {
      tables.push_back(entry.path().string());
    }
  }
  std::ranges::sort(tables);
  return tables;
}

std::vector<std::string> ValidateOptions::tables() const {
  std::vector<std::string> found;
  for (const std::string& path : files) {
    std::error_code unknown;  // the file's reader will report the fault
    const bool folder = std::filesystem::is_directory(path, unknown);
    const std::vector<std::string> named = folder ? tables_in(path) : std::vector{path};
    if (named.empty())
      throw Error(Location{path}, "cannot be read: this folder holds no .csv file");
    found.insert(found.end(), named.begin(), named.end());
  }
  return found;
}

PageCommands commands_of(const ValidateOptions& options, std::string_view what) {
  return {command_of(options, what, FileNames::portable),
          command_of(options, what, FileNames::as_given)};
}

ExitCode write_row(const ValidateOptions& options) {
  const std::vector<TrainingRuns> files = read_all(options.tables());
  const TrainingRun* run = row_named(options.row, files);
  if (run == nullptr) {
    throw Error(
        Location{"--scenario"},
        fmt::format("there is no row '{}'; rows have the form FILE:LINE, as in {}", options.row,
                    files.front().runs.empty() ? "runs.csv:2" : files.front().runs[0].id));
  }
  const std::string text = row_scenario(*run, job_of(*run));
  if (options.row_file.empty()) {
    print_result(text);
  } else {
    write_file(options.row_file, text);
  }
  return ExitCode::ok;
}

const std::vector<JudgedKind>& judged_kinds() {
  static const std::vector<JudgedKind> kinds = [] {
    std::vector<JudgedKind> all = {
        {.name = "runs",
         .columns = {{"seq", "global_batch", "tp", "iter_time_s"}},
         .help = "compare step time and memory of training jobs with measured ones",
         .files = kRowFiles,
         .bound = "a family's step time",
         .where = "gpus>64 && source~\"vTrain\"",
         .fit_where = "fit the calibration on these rows, freeze it, and do not judge them",
         .calibrate_on = "fit on the rows of this file (those of --fit-where), or predict from "
                         "stage times in it (columns T_F_ms ...); may be repeated",
         .calibration =
             "calibration of the library or a .yaml file, instead of that of each row's GPU",
         .markdown =
             "write a page with every error above 20 % and every row that cannot be predicted",
         .worst = true,
         .threads = true,
         .example = "runs.csv --where 'gpus>64' --markdown page.md",
         .judge = against_runs,
         .add = add_runs_options},
        {.name = "collectives",
         .columns = {{"machine", "collective", "bytes", "time_us"}},
         .help = "compare the time of collectives with rows or logs of nccl-tests",
         .files = "rows (CSV), or output of nccl-tests (text or JSON)",
         .bound = "a family",
         .where = "gpus>64 && collective==\"all_reduce\"",
         .fit_where = "fit the calibration on these rows, freeze it, and do not judge them",
         .calibrate_on = "fit on the rows of this file (those of --fit-where); may be repeated",
         .calibration = "calibration of the library or a .yaml file from which to start, instead "
                        "of that of each row's GPU",
         .markdown = "write a page with every error above 35 % and every row that is not used",
         .worst = true,
         .threads = true,
         .example = "all_reduce.log --machine my-cluster --collective all-reduce",
         .judge = against_collectives,
         .add = add_collectives_options},
        {.name = "compression",
         .columns = {{"network", "method", "iter_time_ms"}, {"bytes_fp16", "baseline_us"}},
         .help = "compare data-parallel steps, by how gradients are exchanged: overlapped, merged, "
                 "compressed",
         .files = "measured steps, or times of quantised all-reduces (CSV), as the header says",
         .bound = "a family's step time",
         .where = "gpus>8 && method~\"WFBP\"",
         .fit_where = fmt::format("fit the links on these rows, and do not judge them (default: "
                                  "{}; with --calibrate-on all rows of that file)",
                                  usual_fit_rows()),
         .calibrate_on = "fit the links on the rows of this file (those of --fit-where), and judge "
                         "none of it; may be repeated",
         .markdown = "write a page with every error above 10 % and every reason why a row cannot "
                     "be predicted",
         .worst = true,
         .threads = true,
         .example = "steps.csv --fit-where 'method~\"WFBP\"'",
         .judge = against_compression},
        {.name = "schedules",
         .columns = {{"schedule", "T_F", "makespan"}, {"model", "T_F_ms", "T_comm_ms"}},
         .help = "compare pipeline schedules with published bubble rates or reference makespans",
         .files = kRowFiles,
         .bound = "a family",
         .example = "rows.csv --fail-above 0.02",
         .judge = against_schedules},
        {.name = "faults",
         .columns = {{"id", "metric", "measured", "unpublished_inputs"}},
         .help = "compare goodput, failure rates and saves with published jobs, as ranges over "
                 "inputs that the sources do not state",
         .files = "reference points (CSV), or a folder of such files",
         .where = "id~\"RSC\"",
         .markdown = "write the same result as a page",
         .threads = true,
         .example = "points.csv --fail-above 0.1",
         .judge = against_faults}};
    for (const MeasuredKind& kind : measured_kinds()) all.push_back(judged_kind(kind));
    return all;
  }();
  return kinds;
}

const JudgedKind* kind_of_rows(const std::string& path) {
  return kind_of_table(header_of(path));
}

void check_kind(const JudgedKind& kind, const ValidateOptions& options) {
  for (const std::string& path : options.tables()) {
    if (!path.ends_with(".csv")) continue;
    const CsvTable table = header_of(path);
    if (telling_columns(kind, table) != nullptr) continue;
    const JudgedKind* other = kind_of_table(table);
    if (other == nullptr) continue;  // the reader will report the missing column
    const std::vector<std::string>& told_by = *telling_columns(*other, table);
    throw Error(
        Location{path},
        fmt::format(
            "contains rows for 'windtunnel validate {}', as its columns {} show; '{}' needs {}",
            other->name, fmt::join(told_by, ", "), kind.name,
            fmt::join(kind.columns.front(), ", ")));
  }
}

std::string known_row_kinds() {
  std::vector<std::string> kinds;
  for (const JudgedKind& kind : judged_kinds()) {
    for (const auto& columns : kind.columns) {
      kinds.push_back(fmt::format("{} ({})", kind.name, fmt::join(columns, ", ")));
    }
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace windtunnel
