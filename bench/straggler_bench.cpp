// Simulating 100,000 rounds of 256 workers in two states may take one second.
#include <benchmark/benchmark.h>

#include "models/reliability/stragglers/straggler_rounds.hpp"

namespace windtunnel {
namespace {

void run(benchmark::State& state, const Redundancy& redundancy, const Jitter& jitter, int rounds) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(sample_rounds(redundancy, jitter, alike_workers(256, 1), rounds));
  }
  state.SetItemsProcessed(state.iterations() * rounds);
}

constexpr Jitter kBursts{.bursts = {.good = 32, .bad = 1.1, .slowdown = 5}};

void rounds_of_workers(benchmark::State& state) {
  run(state,
      {.scheme = static_cast<RedundancyScheme>(state.range(0)),
       .stragglers = 15,
       .distinct = 27,
       .tolerance = 1},
      kBursts, 100'000);
}
BENCHMARK(rounds_of_workers)
    ->Arg(int(RedundancyScheme::gradient_coding))
    ->Arg(int(RedundancyScheme::sr_sgc))
    ->Arg(int(RedundancyScheme::m_sgc))
    ->Arg(int(RedundancyScheme::replicated))
    ->Arg(int(RedundancyScheme::dynamic_backup))
    ->Unit(benchmark::kMillisecond);

void log_normal_rounds(benchmark::State& state) {
  run(state, {.scheme = RedundancyScheme::backup_workers, .stragglers = 15}, {.sigma = 0.1},
      10'000);
}
BENCHMARK(log_normal_rounds)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
