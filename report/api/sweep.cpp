#include "sim/study/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <windtunnel/sweep.hpp>

#include "report/api/translation.hpp"

namespace windtunnel_api {
namespace {

SweepPoint public_point(const core::SweepPoint& point, const core::Sweep& grid,
                        const Case::State& state) {
  SweepPoint result = {point.index, core::values_at(grid.vary, point.index), "", {}};
  if (point.fault) {
    result.reason = public_error(*point.fault, state, result.set).what();
    return result;
  }
  core::Record record;
  record.job = point.job;
  record.iteration = point.iteration;
  record.campaign = point.campaign;
  result.figures = figures_of(record);
  return result;
}

}  // namespace

std::vector<SweepPoint> sweep(const Case& the_case, const std::vector<Varied>& vary,
                              const SweepOptions& options) {
  const Case::State state = as_scenario(the_case);
  core::Sweep grid = {
      {.file = state.file, .text = state.text, .set = state.set, .added = state.added}, {}};
  core::Overrides varied;
  for (const Varied& each : vary) {
    grid.vary.push_back({each.key, each.values});
    for (const std::string& value : each.values) varied.emplace_back(each.key, value);
  }

  std::vector<SweepPoint> points;
  std::atomic<bool> stopped = false;
  const std::stop_callback on_stop(options.stop, [&] { stopped = true; });
  translated(
      state,
      [&] {
        const std::vector<core::SweepCase> cases = core::sweep_cases(grid, options.threads);
        core::SweepOptions core_options;
        core_options.threads = options.threads;
        core_options.progress = options.progress;
        core_options.stop = &stopped;
        core_options.finished = [&](const core::SweepPoint& point) {
          points.push_back(public_point(point, grid, state));
          if (options.finished) options.finished(points.back());
        };
        core::run_sweep(grid, cases, core_options);
      },
      varied);
  std::ranges::sort(points, {}, &SweepPoint::index);
  return points;
}

}  // namespace windtunnel_api
