#include "report/validation/execution_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

std::vector<std::string> time_cells(const std::string& name, const ComparedTime& time) {
  return {name, format_seconds(time.predicted_s), format_seconds(time.measured_s),
          signed_percent(time.error())};
}

std::string factor_text(double factor) {
  if (factor >= 1000) return fmt::format("1/{:.0f}", factor);
  return factor >= 1 ? fmt::format("1/{:.4g}", factor) : fmt::format("{:.4g}/1", 1 / factor);
}

}  // namespace

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string ways_text(const ExecutedPlan& executed) {
  const ExecutionWays ways = execution_ways(executed);
  return fmt::format("links: {}, computations: {}, collectives: {}", ways.links, ways.computations,
                     ways.collectives);
}

std::string executions_line(const ExecutedPlan& executed, const Executions& executions) {
  return fmt::format("{}: {} ranks, executed {} times at {} of its times and {} of its bytes ({})",
                     executed.scenario, executed.plan.ranks, executions.measured.size(),
                     factor_text(executions.scale.times), factor_text(executions.scale.bytes),
                     ways_text(executed));
}

TextTable execution_table(const ExecutionComparison& comparison) {
  TextTable times{{{"", Align::left},
                   {"predicted", Align::right},
                   {"measured", Align::right},
                   {"error", Align::right}},
                  {}};
  times.rows.push_back(time_cells("step", comparison.step));
  // The mean of a rank, comparable with the step; a receive lasts from when it is posted.
  const double ranks = std::max<double>(1, static_cast<double>(comparison.ranks.size()));
  for (const ComparedKind& kind : comparison.kinds) {
    const bool waits = kind.kind == TaskKind::recv || kind.kind == TaskKind::collective;
    times.rows.push_back(
        time_cells(fmt::format("{}, mean of a rank{} ({} tasks in all)", name_of(kind.kind),
                               waits ? ", waits in it" : "", kind.tasks),
                   {kind.total.predicted_s / ranks, kind.total.measured_s / ranks}));
  }
  if (comparison.iterations.size() > 1) {
    for (std::size_t i = 0; i < comparison.iterations.size(); ++i) {
      times.rows.push_back(time_cells(fmt::format("end of step {}", i), comparison.iterations[i]));
    }
  }
  for (const ComparedRank& rank : comparison.ranks) {
    times.rows.push_back(time_cells(fmt::format("end of rank {}", rank.rank), rank.end));
  }
  return times;
}

}  // namespace windtunnel
