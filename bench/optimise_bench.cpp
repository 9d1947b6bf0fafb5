// What `windtunnel optimise scenarios/gpt3-175b-a100.yaml --over layout schedule batch.micro
// recompute` does before it simulates the best: 8,000 configurations of GPT-3 on 1,024 A100.
// Budget: 2 s on two cores.
#include <benchmark/benchmark.h>

#include "sim/study/optimise.hpp"

namespace windtunnel {
namespace {

void gpt3_on_1024_gpus(benchmark::State& state) {
  const OptimiseOptions options{.layout = true,
                                .schedule = true,
                                .micro_batch = true,
                                .recompute = true,
                                .simulated = 0,
                                .threads = static_cast<int>(state.range(0))};
  const ScenarioText scenario =
      read_scenario(WINDTUNNEL_SOURCE_DIR "/scenarios/gpt3-175b-a100.yaml");
  for (auto _ : state) {
    const Optimisation found = optimise(scenario, {{}}, options);
    std::int64_t looked_at = found.estimated;
    for (const auto& [reason, at] : found.infeasible) looked_at += at.count;
    state.counters["configurations"] = static_cast<double>(looked_at);
    state.counters["step_s"] = found.best.front().estimated_s;
  }
}
BENCHMARK(gpt3_on_1024_gpus)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
