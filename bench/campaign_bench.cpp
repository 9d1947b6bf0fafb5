// Measures campaigns of the size of Llama 3's training: 2,048 nodes for 54 days. A campaign may
// take 1 ms with fast-forward, and 20 ms with 4,096 nodes for 256 days or 16,384 nodes for 90 days.
#include <benchmark/benchmark.h>

#include "sim/campaign/campaign.hpp"
#include "sim/study/interval_advice.hpp"

namespace windtunnel {
namespace {

constexpr double kDay = 86400;

// Llama 3 had 419 unexpected interruptions in 54 days, 61 of them by software, and 47 planned ones
// (Llama 3 Herd of Models, section 3.3.4). Durations have the right order of magnitude, no more.
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
  int trial = 0;
  for (auto _ : state) benchmark::DoNotOptimize(run_trial(inputs, trial++, mode));
}
BENCHMARK_CAPTURE(one_campaign, fast_forward, CampaignMode::fast_forward)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(one_campaign, replay, CampaignMode::replay)->Unit(benchmark::kMicrosecond);

// Storage snapshots are taken every minute, so that the campaign has many short runs between them.
void frequent_storage(benchmark::State& state) {
  CampaignInputs inputs = llama_size();
  inputs.table.tiers[1].tier.every_s = 60;
  int trial = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(run_trial(inputs, trial++, CampaignMode::fast_forward));
  }
}
BENCHMARK(frequent_storage)->Unit(benchmark::kMicrosecond);

// Host copies every 1,009 iterations and storage snapshots every minute have a common period that
// is too long to list.
void frequent_beside_seldom(benchmark::State& state) {
  CampaignInputs inputs = llama_size();
  inputs.table.tiers[0].tier.every_iterations = 1009;
  inputs.table.tiers[1].tier.every_s = 60;
  int trial = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(run_trial(inputs, trial++, CampaignMode::fast_forward));
  }
}
BENCHMARK(frequent_beside_seldom)->Unit(benchmark::kMicrosecond);

// Makes llama_size() larger and longer and adds what large clusters have: nodes that fail often,
// batches of failures, a daily cycle, peer snapshots under a code, kept copies, hot spares and
// evictions.
CampaignInputs protected_size(int nodes, double days) {
  CampaignInputs inputs = llama_size();
  inputs.nodes = nodes;
  inputs.campaign.length_s = days * kDay;
  const double per_node_s = 1e-3 / kDay;
  FailureClass& node = inputs.failures[0];
  node.rate_per_node_s = 2.5 * per_node_s;
  node.frailty_variance = 1;
  node.batch_shares = {0.95, 0.03, 0.02};
  node.day_amplitude = 0.3;
  inputs.failures[1].rate_per_node_s = 0.5 * per_node_s;
  inputs.failures[2].rate_per_node_s = 0.3 * per_node_s;
  FailureClass network{.name = "network", .kind = FailureKind::network};
  network.rate_per_node_s = 0.3 * per_node_s;
  network.repair.fixed_s = 600;
  FailureClass hang{.name = "hang", .kind = FailureKind::hang, .detect_s = 600};
  hang.rate_per_node_s = 0.1 * per_node_s;
  FailureClass slow{.name = "slow", .kind = FailureKind::slow_node, .detect_s = 3600};
  slow.rate_per_node_s = 0.05 * per_node_s;
  slow.repair.fixed_s = kDay;
  slow.slowdown = 1.3;
  FailureClass corrupt{.name = "corrupt", .kind = FailureKind::corrupt_snapshot};
  corrupt.rate_per_job_s = 0.2 / kDay;
  corrupt.corrupt_tier = 1;
  for (const FailureClass& one : {network, hang, slow, corrupt}) inputs.failures.push_back(one);
  inputs.table.slow_iteration_s = {0, 0, 0, 0, 0, 6, 0};
  inputs.table.tiers[0].tier.place = SnapshotPlace::peers;
  inputs.table.tiers[0].tier.code = {CodeName::reed_solomon, 6, 2};
  inputs.table.tiers[0].rebuild_s = 12;
  inputs.recovery.spares = nodes / 16;
  inputs.recovery.hot_spares = 16;
  inputs.recovery.provision_s = 300;
  inputs.recovery.success = 0.9;
  inputs.recovery.evict_after = 4;
  return inputs;
}

void protected_campaign(benchmark::State& state, int nodes, double days) {
  const CampaignInputs inputs = protected_size(nodes, days);
  int trial = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(run_trial(inputs, trial++, CampaignMode::fast_forward));
  }
}
BENCHMARK_CAPTURE(protected_campaign, 2048_nodes_54_d, 2048, 54)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(protected_campaign, 4096_nodes_256_d, 4096, 256)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(protected_campaign, 16384_nodes_90_d, 16384, 90)->Unit(benchmark::kMicrosecond);

// The case has one to four snapshot tiers, which save every 1, 10, 60 and 360 minutes.
void timed_tiers(benchmark::State& state) {
  CampaignInputs inputs = llama_size();
  inputs.table.tiers.clear();
  double every_s = 60;
  for (int tier = 0; tier < state.range(0); ++tier) {
    SnapshotTier by_time{.mode = SnapshotMode::async, .every_s = every_s};
    inputs.table.tiers.push_back({by_time, 8, 5});
    every_s *= tier == 0 ? 10 : 6;
  }
  inputs.table.iteration_s.assign(std::size_t{1} << state.range(0), 5.2);
  inputs.table.iteration_s[0] = 5;
  int trial = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(run_trial(inputs, trial++, CampaignMode::fast_forward));
  }
}
BENCHMARK(timed_tiers)->DenseRange(1, 4)->Unit(benchmark::kMicrosecond);

void hundred_trials(benchmark::State& state) {
  const CampaignInputs inputs = llama_size();
  for (auto _ : state) benchmark::DoNotOptimize(run_campaign(inputs));
}
BENCHMARK(hundred_trials)->Unit(benchmark::kMillisecond)->UseRealTime();

// scenarios/diloco.yaml for 90 days: 64 islands of 32 nodes that exchange a tenth of the model
// every 50 steps, with the failures of llama_size(). Budget: 20 ms for one campaign.
CampaignInputs islands_size(int missing) {
  CampaignInputs inputs = llama_size();
  inputs.campaign.length_s = 90 * kDay;
  IslandTable& islands = inputs.table.islands;
  islands.count = 64;
  for (int node = 0; node < inputs.nodes; ++node) islands.of_node.push_back(node / 32);
  islands.fragments = 10;
  islands.levels = {{64, 50, 5, 10, missing, 60}};
  return inputs;
}

void campaign_of_islands(benchmark::State& state) {
  const CampaignInputs inputs = islands_size(static_cast<int>(state.range(0)));
  int trial = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(run_trial(inputs, trial++, CampaignMode::fast_forward));
  }
}
BENCHMARK(campaign_of_islands)->Arg(0)->Arg(2)->Unit(benchmark::kMillisecond);

void hundred_trials_of_islands(benchmark::State& state) {
  const CampaignInputs inputs = islands_size(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(run_campaign(inputs));
}
BENCHMARK(hundred_trials_of_islands)->Arg(0)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

// The advice runs 32 campaigns for each of about 12 intervals and may take 0.5 s.
void advice(benchmark::State& state) {
  const CampaignInputs inputs = llama_size();
  const CampaignReport report = run_campaign(inputs);
  for (auto _ : state) benchmark::DoNotOptimize(interval_advice(inputs, report));
}
BENCHMARK(advice)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
