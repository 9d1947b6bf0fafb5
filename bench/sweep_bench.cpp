// A grid of 20 failure rates x 20 storage intervals, 100 trials each, of the Llama-size campaign
// (2,048 nodes for 54 days), iterations included. Budget: 60 s on two cores.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cmath>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "sim/study/interval_search.hpp"
#include "sim/study/sweep.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

const std::string kScenario = WINDTUNNEL_SOURCE_DIR "/scenarios/llama3-405b.yaml";

VariedKey by_equal_factors(const std::string& key, Dimension dimension, double low, double high) {
  VariedKey varied{key, {}};
  for (int i = 0; i < 20; ++i) {
    varied.values.push_back(format_quantity(low * std::pow(high / low, i / 19.0), dimension));
  }
  return varied;
}

Sweep llama_grid() {
  return {read_scenario(kScenario),
          {by_equal_factors("failures.0.rate", Dimension::per_node_s, 1 / 86400e3, 25 / 86400e3),
           by_equal_factors("snapshots.1.every", Dimension::seconds, 300, 4 * 3600)}};
}

void cases_of_a_grid(benchmark::State& state) {
  const Sweep sweep = llama_grid();
  for (auto _ : state) benchmark::DoNotOptimize(sweep_cases(sweep));
}
BENCHMARK(cases_of_a_grid)->Unit(benchmark::kMillisecond)->UseRealTime();

void grid_of_campaigns(benchmark::State& state) {
  const Sweep sweep = llama_grid();
  for (auto _ : state) {
    int points = 0;
    SweepOptions options;
    options.finished = [&](const SweepPoint& point) {
      CHECK(point.campaign, "point {}: {}", point.index, point.reason);
      ++points;
    };
    run_sweep(sweep, sweep_cases(sweep), options);
    CHECK(points == 400, "{} points", points);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(grid_of_campaigns)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

void best_intervals(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        search_intervals(read_scenario(kScenario), {.keys = {"snapshots.*.every"}}));
  }
}
BENCHMARK(best_intervals)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
