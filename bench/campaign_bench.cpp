// One campaign of the Llama 3 size: 2,048 nodes for 54 days. Budget: 1 ms with fast-forward.
#include <benchmark/benchmark.h>

#include "sim/campaign/campaign.hpp"
#include "sim/interval_advice.hpp"

namespace windtunnel {
namespace {

constexpr double kDay = 86400;

// Rates: 419 unexpected and 47 planned interruptions in 54 days (Llama 3 Herd of Models, section
// 3.3.4), of them 61 of software. Durations are of the right size, no more.
CampaignInputs llama_size() {
  CampaignInputs inputs;
  inputs.nodes = 2048;
  inputs.campaign = {54 * kDay, 100, 1};
  const double per_node_s = 1 / (54 * kDay) / inputs.nodes;
  FailureClass node{.name = "node", .rate_per_node_s = 358 * per_node_s};
  node.arrivals = Arrivals::weibull;
  node.weibull_shape = 0.7;
  node.repair.fixed_s = 5.5 * kDay;
  FailureClass process{.name = "process", .kind = FailureKind::process};
  process.rate_per_node_s = 61 * per_node_s;
  FailureClass planned{.name = "planned", .kind = FailureKind::planned};
  planned.rate_per_node_s = 47 * per_node_s;
  inputs.failures = {node, process, planned};
  inputs.recovery = {128, 60, 180, WhenNoSpare::wait};
  const SnapshotTier host{.place = SnapshotPlace::host_memory,
                          .mode = SnapshotMode::async,
                          .every_iterations = 10,
                          .keeper_process = true};
  const SnapshotTier storage{.mode = SnapshotMode::async, .every_s = 3600};
  inputs.table.tiers = {{host, 8, 5}, {storage, 40, 30}};
  inputs.table.iteration_s = {5, 5.1, 5.4, 5.5};
  return inputs;
}

void one_campaign(benchmark::State& state, CampaignMode mode) {
  const CampaignInputs inputs = llama_size();
  int replica = 0;
  for (auto _ : state) benchmark::DoNotOptimize(run_replica(inputs, replica++, mode));
}
BENCHMARK_CAPTURE(one_campaign, fast_forward, CampaignMode::fast_forward)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(one_campaign, replay, CampaignMode::replay)->Unit(benchmark::kMicrosecond);

// The same with storage snapshots every minute: many stretches between snapshots.
void frequent_storage(benchmark::State& state) {
  CampaignInputs inputs = llama_size();
  inputs.table.tiers[1].tier.every_s = 60;
  int replica = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(run_replica(inputs, replica++, CampaignMode::fast_forward));
  }
}
BENCHMARK(frequent_storage)->Unit(benchmark::kMicrosecond);

void hundred_replicas(benchmark::State& state) {
  const CampaignInputs inputs = llama_size();
  for (auto _ : state) benchmark::DoNotOptimize(run_campaign(inputs));
}
BENCHMARK(hundred_replicas)->Unit(benchmark::kMillisecond)->UseRealTime();

// Some 12 intervals, 32 campaigns each. Budget: 0.5 s.
void advice(benchmark::State& state) {
  const CampaignInputs inputs = llama_size();
  const CampaignReport report = run_campaign(inputs);
  for (auto _ : state) benchmark::DoNotOptimize(interval_advice(inputs, report));
}
BENCHMARK(advice)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
