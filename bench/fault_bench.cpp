// Fits and simulations of fault logs, and drawing the hazards of 16,384 unequal nodes, may take a
// few milliseconds each.
#include <benchmark/benchmark.h>

#include "models/reliability/fault_simulation.hpp"
#include "models/reliability/victims.hpp"
#include "traces/rows/fault_log.hpp"

namespace windtunnel {
namespace {

FaultLog infinitehbd() {
  return read_fault_logs(WINDTUNNEL_SOURCE_DIR "/tests/data/infinitehbd_faults.csv").at(0);
}

void fit_584_faults(benchmark::State& state) {
  const FaultLog log = infinitehbd();
  for (auto _ : state) benchmark::DoNotOptimize(fit_faults(log));
}
BENCHMARK(fit_584_faults)->Unit(benchmark::kMillisecond);

void simulate_400_nodes_348_days(benchmark::State& state) {
  const FaultLog log = infinitehbd();
  const FailureClass failure_class = fitted_class(log, fit_faults(log));
  std::uint64_t index = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate_faults({failure_class}, log.nodes, log.span_s, 1, ++index));
  }
}
BENCHMARK(simulate_400_nodes_348_days)->Unit(benchmark::kMillisecond);

void hazards_of_16384_nodes(benchmark::State& state) {
  FailureClass lemons;
  lemons.frailty_variance = 1.2;
  std::uint64_t index = 0;
  for (auto _ : state) benchmark::DoNotOptimize(Victims(lemons, 16384, 1, ++index));
}
BENCHMARK(hazards_of_16384_nodes)->Unit(benchmark::kMillisecond);

void victim_of_16384_nodes(benchmark::State& state) {
  FailureClass lemons;
  lemons.frailty_variance = 1.2;
  Victims victims(lemons, 16384, 1, 1);
  std::vector<int> hit;
  for (auto _ : state) {
    victims.draw(hit);
    victims.set_hazard(hit[0], 0);
    victims.set_hazard(hit[0], 1);
  }
}
BENCHMARK(victim_of_16384_nodes);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
