// Does what `windtunnel compare --vary schedule=all` does for scenarios/gpt3-175b-schedules.yaml:
// simulates every schedule of the table on 512 GPUs, and makes the page with the charts of those
// that ran. Budget: 10 s on two shared cores.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "policies/lowering/for_each_index.hpp"
#include "policies/schedules/schedules.hpp"
#include "report/page/comparison_page.hpp"
#include "report/page/drawing.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

ComparedPoint simulate_point(const std::string& schedule) {
  ComparedPoint point{{{"schedule", schedule}}, {}, ""};
  try {
    point.record =
        simulate(load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/gpt3-175b-schedules.yaml", point.set));
  } catch (const Error& error) {
    point.reason = error.what();
  }
  return point;
}

void compare_all_schedules(benchmark::State& state) {
  const std::vector<ScheduleKind>& kinds = schedule_kinds();
  for (auto _ : state) {
    Comparison comparison;
    comparison.points.resize(kinds.size());
    std::vector<Json> drawings(kinds.size());
    for_each_index(kinds.size(), 0, [&](size_t i) {
      ComparedPoint& point = comparison.points[i];
      point = simulate_point(std::string(kinds[i].name));
      if (!point.record) return;
      drawings[i] = drawing_of(*point.record, {.max_spans = spans_per_point(kinds.size())});
      point.record->plan = {};
      point.record->timeline = {};
    });
    const Json document = comparison_document(comparison, drawings, {});
    state.counters["page_MB"] = static_cast<double>(comparison_page(document).size()) / 1e6;
    state.counters["feasible"] = static_cast<double>(document["points"].size());
    state.counters["infeasible"] = static_cast<double>(document["infeasible"].size());
  }
}

BENCHMARK(compare_all_schedules)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
