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
  std::string source;
  std::optional<double> step_s, memory_gib;
};

constexpr auto kScenarioFields = std::to_array<RowField<ScenarioRun>>({
    {"scenario", &ScenarioRun::scenario, Needs::cell},
    {"source", &ScenarioRun::source},
    {"iter_time_s", &ScenarioRun::step_s, Needs::column, "seconds", 1e7},
    {"mem_gib", &ScenarioRun::memory_gib, {}, "GiB", 1e6},
});

FitRow row_of(const TrainingRun& run, const std::string& /*table*/) {
  return fit_row_of(run, job_of(run).job);
}

FitRow row_of(const ScenarioRun& run, const std::string& table) {
  const std::string path = std::filesystem::path(table).parent_path() / run.scenario;
  const Case the_case = resolve_case(as_scenario(read_scenario(path)).scenario);
  return {.job = the_case.job,
          .measured_s = *run.step_s,
          .group = run.source.empty() ? the_case.scenario : run.source,
          .id = run.id,
          .memory_bytes = run.memory_gib.value_or(0) * kGibibyte,
          .memory_figure = {}};
}

template <class File>
void add_rows(File file, const std::string& path, const std::string& where, FitInput& input) {
  RowChoice<File> choice;
  if (!where.empty()) choice.where = RowFilter::parse(where, "--where");
  const std::vector<File> files = {std::move(file)};
  std::vector<SkippedRow> unusable;
  const std::vector<SelectedRow<File>> selected = select_rows(files, choice, unusable);
  for (const SkippedRow& row : unusable) input.unusable.push_back({row.id, row.reason, {}});
  for (const auto& row : selected) {
    try {
      if (!row.run->step_s) throw Error("no step time");
      input.rows.push_back(row_of(*row.run, path));
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
    add_rows(parse_fields<ScenarioRun>(text, path, kScenarioFields), path, where, input);
  } else {
    add_rows(parse_training_runs(text, path), path, where, input);
  }
  keep_kind(path, gpu, input);
  return input;
}

}  // namespace windtunnel
