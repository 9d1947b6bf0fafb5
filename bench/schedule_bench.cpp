// Schedule evaluation should reach 10 million actions/s in one thread.
#include <benchmark/benchmark.h>

#include "policies/analysis/schedule_analysis.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/schedules/schedules.hpp"

namespace windtunnel {
namespace {

void evaluate(benchmark::State& state, const char* name, int ranks, int microbatches, int chunks) {
  const Schedule schedule = generate_schedule(name, ranks, microbatches, chunks);
  const std::vector<StageCost> stages(schedule.stages(), {1, 1.25, 0.75, 1, 0.5});
  for (auto _ : state) benchmark::DoNotOptimize(evaluate_schedule(schedule, stages, 0.125));
  const int64_t actions = 2LL * schedule.stages() * microbatches;
  state.SetItemsProcessed(state.iterations() * actions);  // printed as items_per_second
}
BENCHMARK_CAPTURE(evaluate, gpipe_p16_m64, "gpipe", 16, 64, 1);
BENCHMARK_CAPTURE(evaluate, 1f1b_p4_m8, "1f1b", 4, 8, 1);
BENCHMARK_CAPTURE(evaluate, 1f1b_p16_m64, "1f1b", 16, 64, 1);
BENCHMARK_CAPTURE(evaluate, 1f1b_p64_m4096, "1f1b", 64, 4096, 1);
BENCHMARK_CAPTURE(evaluate, interleaved_p16_m16_v8, "interleaved-1f1b", 16, 16, 8);
BENCHMARK_CAPTURE(evaluate, interleaved_p16_m128_v8, "interleaved-1f1b", 16, 128, 8);

// Computes all that `schedule show` reports; 20 ms are allowed.
void analyse(benchmark::State& state, const char* name, int ranks, int microbatches) {
  const Schedule schedule = generate_schedule(name, ranks, microbatches, 1);
  const std::vector<StageCost> stages(schedule.stages(), {1, 1.25, 0.75, 1, 0.5});
  for (auto _ : state) {
    benchmark::DoNotOptimize(analyse_schedule(schedule, stages, {{{0.125}, {0.125}}}));
  }
}
BENCHMARK_CAPTURE(analyse, 1f1b_p16_m64, "1f1b", 16, 64);

void generate(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(generate_schedule("interleaved-1f1b", 16, 128, 8));
  state.SetItemsProcessed(state.iterations() * 2 * 16 * 8 * 128);
}
BENCHMARK(generate);

// The planner may take a tenth of what Zero Bubble's own program takes: 0.01, 0.13 and 0.58 s.
void plan(benchmark::State& state, int ranks, int microbatches) {
  const ScheduleRequest request{.ranks = ranks,
                                .microbatches = microbatches,
                                .costs = std::vector<StageCost>(ranks, {1, 0.98, 0.6, 1, 0.5}),
                                .message_s = 0.04};
  for (auto _ : state) benchmark::DoNotOptimize(generate_schedule("zb-2p", request));
  state.SetItemsProcessed(state.iterations() * 3 * ranks * microbatches);
}
BENCHMARK_CAPTURE(plan, zb_2p_p8_m24, 8, 24);
BENCHMARK_CAPTURE(plan, zb_2p_p16_m128, 16, 128);
BENCHMARK_CAPTURE(plan, zb_2p_p32_m256, 32, 256);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
