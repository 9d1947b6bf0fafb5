#include "validate/accuracy/runs/fit_rows.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/imports/import.hpp"
#include "scenarios/language/library/library.hpp"
#include "sim/study/diagnose/log_shape.hpp"
#include "traces/logs/training_log.hpp"
#include "traces/rows/row_fields.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/rows/row_selection.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {
namespace {

const std::string& kind_of(const FitRow& row) {
  return row.job.cluster.node.gpu.name;
}

// The row names the scenario of its job, or the configuration of a training program. It thus states
// all that the job sets, and not only what has a column.
struct ScenarioRun {
  std::string id;  // "file:line"
  std::size_t table_row = 0;
  std::string scenario;  // a path from the table's folder
  std::string log;       // the same, of the run's output; its steps then give time and memory
  std::string source;
  std::optional<double> step_s, memory_gib;
};

constexpr auto kScenarioFields = std::to_array<RowField<ScenarioRun>>({
    {"scenario", &ScenarioRun::scenario, Needs::cell},
    {"log", &ScenarioRun::log},
    {"source", &ScenarioRun::source},
    {"iter_time_s", &ScenarioRun::step_s, Needs::nothing, "seconds", 1e7},
    {"mem_gib", &ScenarioRun::memory_gib, {}, "GiB", 1e6},
});

FitRow row_of_job(const std::string& scenario) {
  const Case the_case = resolve_case(as_scenario(read_scenario(scenario)).scenario);
  return {.job = the_case.job,
          .measured_s = 0,
          .group = the_case.scenario,
          .id = {},
          .memory_bytes = 0,
          .memory_figure = {}};
}

void measure_by_log(const std::string& path, FitRow& row, std::vector<std::string>& notes) {
  const LogShape shape = shape_of(parse_training_log(read_file(path), path), amounts_of(row.job));
  row.measured_s = shape.calm_s();
  if (shape.change) {
    notes.push_back(
        fmt::format("{}: a step takes {} in one part of the run and {} in another; the faster part "
                    "counts. `windtunnel diagnose` looks for the cause.",
                    path, format_seconds(shape.before_s), format_seconds(shape.after_s)));
  }
  const bool reserved = shape.reserved_bytes > 0;
  row.memory_bytes = reserved ? shape.reserved_bytes : shape.allocated_bytes;
  row.memory_figure.what = reserved ? MemoryFigure::What::reserved : MemoryFigure::What::allocated;
}

// Paths are from the table's folder.
FitRow row_of(const ScenarioRun& run, const std::filesystem::path& folder,
              std::vector<std::string>& notes) {
  if (!run.step_s && run.log.empty()) throw Error("no step time and no log");
  FitRow row = row_of_job(folder / run.scenario);
  if (run.log.empty()) {
    row.measured_s = *run.step_s;
    row.memory_bytes = run.memory_gib.value_or(0) * kGibibyte;
  } else if (run.step_s || run.memory_gib) {
    throw Error("a log and a figure of its own: leave log, or iter_time_s and mem_gib, empty");
  } else {
    measure_by_log(folder / run.log, row, notes);
  }
  row.id = run.id;
  if (!run.source.empty()) row.group = run.source;
  return row;
}

template <class File, class Convert>
void add_rows(File file, const std::string& where, const Convert& row_of, FitInput& input) {
  RowChoice<File> choice;
  if (!where.empty()) choice.where = RowFilter::parse(where, "--where");
  const std::vector<File> files = {std::move(file)};
  std::vector<SkippedRow> unusable;
  const std::vector<SelectedRow<File>> selected = select_rows(files, choice, unusable);
  for (const SkippedRow& row : unusable) input.unusable.push_back({row.id, row.reason, {}});
  for (const auto& row : selected) {
    try {
      input.rows.push_back(row_of(*row.run));
    } catch (const Error& error) {
      input.unusable.push_back({row.run->id, error.what(), row.run->table_row});
    }
  }
  const size_t all = files.front().runs.size() + files.front().unusable.size();
  input.other_rows = all - selected.size() - unusable.size();
}

void keep_kind(const std::string& path, const std::string& gpu, FitInput& input) {
  std::map<std::string, size_t> kinds;
  for (const FitRow& row : input.rows) ++kinds[kind_of(row)];
  if (gpu.empty() && kinds.size() > 1) {
    std::vector<std::string> found;
    for (const auto& [kind, count] : kinds) found.push_back(fmt::format("{} ({})", kind, count));
    throw Error(Location{path}, fmt::format("there are rows of {} kinds of GPUs: {}; a calibration "
                                            "is for one kind: choose it with --gpu or --where",
                                            kinds.size(), fmt::join(found, ", ")));
  }
  if (!gpu.empty()) {
    const size_t before = input.rows.size();
    std::erase_if(input.rows, [&](const FitRow& row) { return kind_of(row) != gpu; });
    input.other_rows += before - input.rows.size();
  }
  if (!input.rows.empty()) {
    input.gpu = kind_of(input.rows.front());
    return;
  }
  std::vector<std::string> found;
  for (const auto& [kind, count] : kinds) found.push_back(kind);
  std::string why = "no row is selected";
  if (!found.empty()) {
    why = fmt::format("there is no row of GPU kind {}; found: {}", gpu, fmt::join(found, ", "));
  } else if (!input.unusable.empty()) {
    const UnusableRow& first = input.unusable.front();
    why = fmt::format("none of {} selected rows can be used; {}: {}", input.unusable.size(),
                      first.id, first.reason);
  }
  throw Error(Location{path}, why);
}

}  // namespace

FitRow fit_row_of(const TrainingRun& run, const Job& job) {
  const MemoryFigure figure = memory_figure_of(run);
  return {.job = job,
          .measured_s = *run.step_s,
          .group = run.source,
          .id = run.id,
          .memory_bytes = run.memory_gib.value_or(0) * figure.unit_bytes,
          .memory_figure = figure};
}

FitInput read_fit_rows(const std::string& path, const std::string& where, const std::string& gpu) {
  if (!gpu.empty()) find_gpu(gpu);
  const std::string text = read_file(path);
  std::vector<CsvFault> faults;
  FitInput input;
  input.by_scenario = CsvTable::parse(text, path, &faults).has("scenario");
  if (input.by_scenario) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    add_rows(
        parse_fields<ScenarioRun>(text, path, kScenarioFields), where,
        [&](const ScenarioRun& run) { return row_of(run, folder, input.notes); }, input);
  } else {
    add_rows(
        parse_training_runs(text, path), where,
        [](const TrainingRun& run) {
          if (!run.step_s) throw Error("no step time");
          return fit_row_of(run, job_of(run).job);
        },
        input);
  }
  keep_kind(path, gpu, input);
  return input;
}

FitInput read_fit_log(const std::string& log, const std::string& scenario) {
  FitInput input;
  input.rows.push_back(row_of_job(scenario));
  measure_by_log(log, input.rows.front(), input.notes);
  input.rows.front().id = log;
  input.gpu = kind_of(input.rows.front());
  input.by_scenario = true;
  return input;
}

}  // namespace windtunnel
