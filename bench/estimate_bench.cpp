// Budget: the closed estimate of Llama-3-405B on 16,384 GPUs with 16 stages and 16 micro-batches in
// 0.2 ms, with 4096 stages x micro-batches in 1 ms.
#include <benchmark/benchmark.h>

#include "policies/iteration_estimate.hpp"
#include "scenarios/case.hpp"

namespace windtunnel {
namespace {

void estimate(benchmark::State& state, const Overrides& overrides) {
  const Case the_case = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/llama3-405b.yaml", overrides);
  const PreparedIteration prepared = prepare_iteration(the_case.job);
  for (auto _ : state) {
    const IterationEstimate estimate = estimate_iteration(the_case.job, prepared);
    state.counters["step_s"] = estimate.step_s;
  }
}

void llama_405b(benchmark::State& state) {
  estimate(state, {{"layout.vpp", "1"},
                   {"schedule", "1f1b"},
                   {"layout.stages", "[7,8,8,8,8,8,8,8,8,8,8,8,8,8,8,7]"}});
}
void llama_405b_interleaved(benchmark::State& state) {
  estimate(state, {});
}
void llama_405b_256_microbatches(benchmark::State& state) {
  estimate(state, {{"layout.vpp", "1"},
                   {"schedule", "1f1b"},
                   {"layout.stages", "[7,8,8,8,8,8,8,8,8,8,8,8,8,8,8,7]"},
                   {"batch.global", "32768"}});
}
void llama_405b_interleaved_256_microbatches(benchmark::State& state) {
  estimate(state, {{"batch.global", "32768"}});
}
void llama_405b_fsdp(benchmark::State& state) {
  estimate(state, {{"layout.vpp", "1"},
                   {"schedule", "1f1b"},
                   {"layout.pp", "1"},
                   {"layout.dp", "2048"},
                   {"layout.stages", "[126]"},
                   {"layout.sharding", "zero3"},
                   {"batch.global", "2048"}});
}
void prepare_405b(benchmark::State& state) {
  const Case the_case = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/llama3-405b.yaml", {});
  for (auto _ : state) benchmark::DoNotOptimize(prepare_iteration(the_case.job));
}

BENCHMARK(llama_405b)->Unit(benchmark::kMicrosecond);
BENCHMARK(llama_405b_interleaved)->Unit(benchmark::kMicrosecond);
BENCHMARK(llama_405b_256_microbatches)->Unit(benchmark::kMicrosecond);
BENCHMARK(llama_405b_interleaved_256_microbatches)->Unit(benchmark::kMicrosecond);
BENCHMARK(llama_405b_fsdp)->Unit(benchmark::kMicrosecond);
BENCHMARK(prepare_405b)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
