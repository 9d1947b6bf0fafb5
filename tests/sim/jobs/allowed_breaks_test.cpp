// Each reason why an improvement may make a figure worse, as better_is_no_worse_test.cpp allows, is
// shown in one small job.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

Record simulated(const Case& the_case) {
  return simulate(the_case, {.threads = 1, .allow_oom = true});
}
Record simulated(const std::string& text) {
  return simulated(parse_case(text, "allowed.yaml"));
}

// Under zero2 the gradients of two layers and the vocabulary stay whole until they are scattered,
// in addition to the rank's shard of all gradients (docs/physics/gradients.md). A stage of two
// layers has no other gradients under zero1; a stage of sixteen has many more.
TEST(AllowedBreaks, WholeGradientsOfTwoLayersLieBesideTheShardOfZero2) {
  const auto last_stage = [](int layers, const std::string& sharding,
                             const std::string& kept = "fp32") {
    return simulated(
               "name: shards\n"
               "model: {layers: " +
               std::to_string(layers) +
               ", hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
               "cluster: {nodes: 2, node: dgx-h100}\n"
               "layout: {tp: 2, pp: 4, sharding: " +
               sharding +
               "}\n"
               "batch: {global: 64, micro: 2}\n"
               "software: {reductions: fp32, gradients: " +
               kept + "}\n")
        .iteration.memory.back();
  };
  const GpuMemory zero1 = last_stage(8, "zero1");
  const GpuMemory zero2 = last_stage(8, "zero2");
  EXPECT_LT(zero2.gradients, zero1.gradients);
  EXPECT_GT(zero2.allocated(), zero1.allocated());
  EXPECT_LE(zero2.allocated() - zero1.allocated(), zero2.gradients * (1 + 1e-9));
  EXPECT_LT(last_stage(64, "zero2").allocated(), last_stage(64, "zero1").allocated());
  // Half of these bytes are due to the larger type that is reduced, 2 B more per parameter.
  const GpuMemory kept = last_stage(8, "zero1", "bf16");
  const GpuMemory shard = last_stage(8, "zero2", "bf16");
  const double more = shard.allocated() - kept.allocated();
  EXPECT_GT(more, 1.01 * shard.gradients);
  EXPECT_LE(more, (shard.gradients + kept.gradients / 2) * (1 + 1e-9));
}

// MG-WFBP merges buckets by the law of a dense all-reduce, which faster links change. Messages
// compressed by PowerSGD take other times, so the merged buckets may fit worse. Without merging,
// faster links are no slower.
TEST(AllowedBreaks, BucketsAreMergedByAGuess) {
  const auto step_s = [](const std::string& overlap, const std::string& h100,
                         const std::string& a100) {
    return simulated(
               "name: merged\n"
               "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024, "
               "hybrid_override_pattern: 'M-M*M-M*', mamba: {state_dim: 64, head_dim: 64, "
               "num_groups: 2, num_heads: 32}}\n"
               "cluster: {pools: [{name: a, nodes: 1, node: {base: dgx-h100, nvlink: " +
               h100 + "}}, {name: b, nodes: 1, node: {base: dgx-a100, nvlink: " + a100 +
               "}}]}\nlayout: {tp: 1, pp: 2}\nbatch: {global: 64, micro: 1}\n"
               "communication: {overlap: " +
               overlap + ", compressor: powersgd}\n")
        .iteration.time_s;
  };
  EXPECT_GT(step_s("mg-wfbp", "900 GB/s", "600 GB/s"), step_s("mg-wfbp", "450 GB/s", "300 GB/s"));
  EXPECT_LE(step_s("wfbp", "900 GB/s", "600 GB/s"), step_s("wfbp", "450 GB/s", "300 GB/s"));
}

// [pass] "F" and "B": total time of its tasks, and time of the longest.
struct PassTime {
  double sum_s = 0;
  double longest_s = 0;
};
std::map<char, PassTime> passes(const Record& record) {
  std::map<char, PassTime> all;
  const RankTimeline& rank = record.timeline.ranks.front();
  const RankClass& ranks = record.plan.classes[rank.rank_class];
  for (std::size_t i = 0; i < ranks.tasks.size(); ++i) {
    const Task& task = ranks.tasks[i];
    if (task.kind != TaskKind::compute || task.microbatch < 0) continue;
    const double seconds = rank.spans[i].end_s - rank.spans[i].start_s;
    PassTime& pass = all[task.name.front()];
    pass.sum_s += seconds;
    pass.longest_s = std::max(pass.longest_s, seconds);
  }
  return all;
}

// With faster links inside the node NCCL's tuner chooses another wire format for some sizes, by its
// own model of their cost. With one format for all sizes the step is no longer.
TEST(AllowedBreaks, NcclsTunerChoosesByItsOwnModel) {
  const auto step_s = [](const std::string& nvlink, const std::string& choice) {
    return simulated(
               "name: tuner\n"
               "model: alexnet\n"
               "cluster: {nodes: 4, node: {base: pcie-rtx3080, nvlink: " +
               nvlink +
               "}}\n"
               "layout: {tp: 1}\n"
               "batch: {global: 64, micro: 1}\n"
               "recompute: auto\n"
               "communication: {overlap: priority" +
               choice + "}\n")
        .iteration.time_s;
  };
  EXPECT_GT(step_s("64 GB/s", ""), 1.05 * step_s("32 GB/s", ""));
  const std::string simple = ", collectives: {all_reduce: {algorithm: ring, protocol: simple}}";
  EXPECT_LE(step_s("64 GB/s", simple), step_s("32 GB/s", simple) * (1 + 1e-9));
}

// The host launches a pass as a whole, and the GPU's wait for it is spread over the layers. With
// faster kernels the whole pass is no longer, but layers whose kernels did not change get more of
// the wait, and their communication starts later.
TEST(AllowedBreaks, TheHostsWaitIsSpreadOverTheLayersOfAPass) {
  Case the_case = parse_case(
      "name: spread\n"
      "model: alexnet\n"
      "cluster: {nodes: 4, node: dgx-a100}\n"
      "layout: {tp: 1, sharding: zero3}\n"
      "batch: {global: 64, micro: 1}\n"
      "communication: {overlap: bucketed}\n",
      "allowed.yaml");
  const Record slow = simulated(the_case);
  the_case.job.cluster.node.gpu.memory_Bps.value *= 2;
  the_case.prepared = nullptr;
  const Record fast = simulated(the_case);
  EXPECT_GT(fast.iteration.time_s, slow.iteration.time_s);
  EXPECT_LT(fast.iteration.time_s, 1.01 * slow.iteration.time_s);
  std::map<char, PassTime> before = passes(slow);
  std::map<char, PassTime> after = passes(fast);
  ASSERT_EQ(before.size(), 2u);
  for (const auto& [name, pass] : before) {
    EXPECT_LE(after[name].sum_s, pass.sum_s * (1 + 1e-9)) << name;
    EXPECT_GT(after[name].longest_s, pass.longest_s) << name;
  }
  // With CUDA graphs, which need no launches, the faster job is no slower.
  the_case.job.software.cuda_graphs = true;
  the_case.prepared = nullptr;
  const double graphed_s = simulated(the_case).iteration.time_s;
  the_case.job.cluster.node.gpu.memory_Bps.value /= 2;
  the_case.prepared = nullptr;
  EXPECT_LE(graphed_s, simulated(the_case).iteration.time_s * (1 + 1e-9));
}

// The library's tuner picks the algorithm that is fastest for a collective alone. Without latency
// this is the tree, which has two flows at a port, so a concurrent message gets a third instead of
// half. With either algorithm fixed, less latency is no worse.
TEST(AllowedBreaks, WithoutLatencyTheTunerPicksWhatLeavesAMessageLess) {
  const auto times = [](const std::string& algorithm) {
    Case the_case = parse_case(
        "name: share\n"
        "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024, "
        "hybrid_override_pattern: 'M-M*M-M*', mamba: {state_dim: 64, head_dim: 64, num_groups: 2, "
        "num_heads: 32}}\n"
        "cluster: {nodes: 4, node: pcie-rtx3080}\n"
        "layout: {tp: 1, pp: 2}\n"
        "batch: {global: 64, micro: 2}\n"
        "recompute: selective\n"
        "communication: {overlap: none, law: constants" +
            algorithm + "}\n",
        "allowed.yaml");
    const double slow_s = simulated(the_case).iteration.time_s;
    the_case.job.calibration.nic_latency_s.value = 0;
    the_case.job.calibration.nvlink_latency_s.value = 0;
    the_case.prepared = nullptr;
    return std::pair(slow_s, simulated(the_case).iteration.time_s);
  };
  const auto [slow_s, fast_s] = times("");
  EXPECT_GT(fast_s, 1.01 * slow_s);
  const auto [slow_ring_s, fast_ring_s] = times(", collectives: {all_reduce: ring}");
  EXPECT_LE(fast_ring_s, slow_ring_s);
  const auto [slow_tree_s, fast_tree_s] = times(", collectives: {all_reduce: tree}");
  EXPECT_LE(fast_tree_s, slow_tree_s);
  EXPECT_NEAR(fast_s, fast_tree_s, 1e-9 * fast_s);
}

// Returns the useful seconds of a trial with one failure, for each of these moments of failure.
std::vector<double> useful_s(const Case& the_case, const std::vector<double>& failure_s) {
  const MeasuredIteration measured = measure_iteration(the_case, {.threads = 1, .allow_oom = true});
  CampaignInputs inputs = campaign_inputs(the_case.job, measured.table);
  FailureClass& only = inputs.failures.front();
  only.arrivals = Arrivals::trace;
  std::vector<double> all;
  for (const double at_s : failure_s) {
    only.trace_s = {at_s};
    all.push_back(run_trial(inputs, 0, CampaignMode::fast_forward).useful_s);
  }
  return all;
}

// A snapshot by time begins with the first iteration that starts late enough after the last one.
// With faster storage iterations start at other times, so the sixteenth snapshot may begin later,
// and a failure in between loses a whole interval more; other failures lose less. If the interval
// is counted in iterations, no snapshot comes later.
TEST(AllowedBreaks, FasterStorageMovesSnapshotsByTimePastAFailure) {
  std::vector<double> failure_s;
  for (double at_s = 28'200; at_s < 30'000; at_s += 10) failure_s.push_back(at_s);
  // Returns how many more seconds are useful with storage of twice the bandwidth.
  const auto gains_s = [&](const std::string& every) {
    Case the_case = parse_case(
        "name: moments\n"
        "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024, moe: "
        "{experts: 8, per_token: 2, ffn: 2048}}\n"
        "cluster: {nodes: 4, node: dgx-h100, fabric: {topology: sites, wan: 10 Gb/s, "
        "sites: [{name: a, nodes: 2}, {name: b, nodes: 2}]}, storage: {write: 10 GB/s, read: 10 "
        "GB/s}}\n"
        "layout: {tp: 1}\n"
        "batch: {global: 64, micro: 1}\n"
        "recompute: selective\n"
        "communication: {overlap: none, law: constants}\n"
        "snapshots: [{tier: storage, every: " +
            every +
            "}, {tier: host-memory, every: 20 iterations}]\n"
            "failures: [{class: node, rate: 1 per 1000 node-days, repair: 1 h}]\n"
            "recovery: {spares: 1}\n"
            "campaign: {length: 12 h, replicas: 1, evaluation: {every: 1000 iterations, takes: 60 "
            "s}}\n",
        "allowed.yaml");
    std::vector<double> gains = useful_s(the_case, failure_s);
    the_case.job.cluster.storage.write_Bps.value *= 2;
    the_case.job.cluster.storage.read_Bps.value *= 2;
    the_case.prepared = nullptr;
    const std::vector<double> fast_s = useful_s(the_case, failure_s);
    for (std::size_t i = 0; i < gains.size(); ++i) gains[i] = fast_s[i] - gains[i];
    return gains;
  };
  const std::vector<double> by_time = gains_s("30 min");
  EXPECT_LT(std::ranges::min(by_time), -1000);
  EXPECT_GT(std::ranges::max(by_time), 0);
  const std::vector<double> by_iterations = gains_s("1300 iterations");
  EXPECT_GE(std::ranges::min(by_iterations), -2);  // the end cuts one iteration
}

}  // namespace
}  // namespace windtunnel
