// Measures what `windtunnel optimise SCENARIO --over layout schedule batch.micro recompute` does
// before it simulates the best. It may take 2 s on two cores for 8,000 configurations of GPT-3 on
// 1,024 A100, and 10 CPU-seconds for jobs with compressors, with work that fills idle time, or with
// unequal sequences.
#include <benchmark/benchmark.h>

#include <string>

#include "sim/study/optimise.hpp"

namespace windtunnel {
namespace {

void search(benchmark::State& state, const std::string& scenario_file) {
  const OptimiseOptions options{.layout = true,
                                .schedule = true,
                                .micro_batch = true,
                                .recompute = true,
                                .simulated = 0,
                                .threads = static_cast<int>(state.range(0))};
  const ScenarioText scenario = read_scenario(WINDTUNNEL_SOURCE_DIR "/scenarios/" + scenario_file);
  for (auto _ : state) {
    const Optimisation found = optimise(scenario, {{}}, options);
    std::int64_t looked_at = found.estimated;
    for (const auto& [reason, at] : found.infeasible) looked_at += at.count;
    state.counters["configurations"] = static_cast<double>(looked_at);
    state.counters["step_s"] = found.best.front().estimated_s;
  }
}

void on_threads(benchmark::internal::Benchmark* bench) {
  bench->ArgName("threads")
      ->Arg(1)
      ->Arg(2)
      ->Unit(benchmark::kSecond)
      ->UseRealTime()
      ->MeasureProcessCPUTime();
}
BENCHMARK_CAPTURE(search, gpt3_on_1024_gpus, "gpt3-175b-a100.yaml")->Apply(on_threads);
BENCHMARK_CAPTURE(search, filled, "filling.yaml")->Apply(on_threads);
BENCHMARK_CAPTURE(search, compressed, "headlines/onebit-lamb.yaml")->Apply(on_threads);
BENCHMARK_CAPTURE(search, unequal, "headlines/flexsp.yaml")->Apply(on_threads);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
