#include "validate/accuracy/runs/fit_rows.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "models/base/error.hpp"
#include "scenarios/language/library/library.hpp"
#include "validate/accuracy/rows/row_selection.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {
namespace {

const std::string& kind_of(const FitRow& row) {
  return row.job.cluster.node.gpu.name;
}

void add_run(const TrainingRun& run, FitInput& input) {
  if (!run.step_s) {
    input.unusable.push_back({run.id, "no step time", run.table_row});
    return;
  }
  try {
    input.rows.push_back(fit_row_of(run, job_of(run).job));
  } catch (const Error& error) {
    input.unusable.push_back({run.id, error.what(), run.table_row});
  }
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
  const std::vector<TrainingRuns> files = {read_training_runs(path)};
  RowChoice<TrainingRuns> choice;
  if (!where.empty()) choice.where = RowFilter::parse(where, "--where");
  std::vector<SkippedRow> unusable;
  const std::vector<SelectedRow<TrainingRuns>> selected = select_rows(files, choice, unusable);
  FitInput input;
  for (const SkippedRow& row : unusable) input.unusable.push_back({row.id, row.reason, {}});
  for (const SelectedRow<TrainingRuns>& row : selected) add_run(*row.run, input);
  const size_t all = files.front().runs.size() + files.front().unusable.size();
  input.other_rows = all - selected.size() - unusable.size();
  keep_kind(path, gpu, input);
  return input;
}

}  // namespace windtunnel
