#include "validate/accuracy/runs/fit_rows.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "models/base/error.hpp"
#include "scenarios/language/library/library.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
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
    throw Error(Location{path},
                fmt::format("rows of {} GPU kinds: {}; a calibration is one kind's: choose with "
                            "--gpu or --where",
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
    why = fmt::format("no row of GPU kind {}; found: {}", gpu, fmt::join(found, ", "));
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
  const TrainingRuns runs = read_training_runs(path);
  std::vector<bool> selected(runs.table.rows(), true);
  if (!where.empty()) {
    const RowFilter filter = RowFilter::parse(where, "--where");
    filter.check(runs.table);
    for (size_t row = 0; row < selected.size(); ++row) {
      selected[row] = filter.matches(runs.table, row);
    }
  }
  FitInput input;
  for (const UnusableRow& row : runs.unusable) {
    if (!row.table_row || selected[*row.table_row]) {
      input.unusable.push_back(row);
    } else {
      ++input.other_rows;
    }
  }
  for (const TrainingRun& run : runs.runs) {
    if (selected[run.table_row]) {
      add_run(run, input);
    } else {
      ++input.other_rows;
    }
  }
  keep_kind(path, gpu, input);
  return input;
}

}  // namespace windtunnel
