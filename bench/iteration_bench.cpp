// One iteration of scenarios/llama3-405b.yaml from the resolved case to the report: costs,
// schedule, memory, Plan, engine, critical path. Peak memory is that of the simulating process.
#include <benchmark/benchmark.h>

#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

void simulate_iteration(benchmark::State& state, const Overrides& overrides) {
  Case the_case = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/llama3-405b.yaml", overrides);
  the_case.job.campaign.length_s = 0;
  for (auto _ : state) {
    const Record record = simulate(the_case, {.allow_oom = true});
    state.counters["step_s"] = record.iteration.time_s;
    state.counters["ranks"] = record.ranks;
    state.counters["ranks_simulated"] = static_cast<double>(record.timeline.ranks_simulated);
    state.counters["activities"] = static_cast<double>(record.timeline.events);
    state.counters["peak_MB"] = record.peak_rss_bytes / 1e6;
  }
}

void folded_16384(benchmark::State& state) {
  simulate_iteration(state, {});
}

void folded_131072(benchmark::State& state) {
  simulate_iteration(
      state, {{"cluster.nodes", "16384"}, {"layout.dp", "1024"}, {"batch.global", "16384"}});
}

void folded_1048576(benchmark::State& state) {
  simulate_iteration(
      state, {{"cluster.nodes", "131072"}, {"layout.dp", "8192"}, {"batch.global", "131072"}});
}

// With its campaigns: iterations with snapshots and with nodes out, and the advice on intervals.
void campaign_131072(benchmark::State& state) {
  const Case the_case =
      load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/llama3-405b.yaml",
                {{"cluster.nodes", "16384"}, {"layout.dp", "1024"}, {"batch.global", "16384"}});
  for (auto _ : state) benchmark::DoNotOptimize(simulate(the_case).campaign->goodput.mean);
}

void unfolded_16384(benchmark::State& state) {
  simulate_iteration(state, {{"fold", "none"}});
}

BENCHMARK(folded_16384)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(folded_131072)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(folded_1048576)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);
BENCHMARK(campaign_131072)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);
BENCHMARK(unfolded_16384)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
