#include "sim/study/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/base/error.hpp"
#include "models/cost/memory/memory.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/asked_studies.hpp"
#include "sim/study/studies.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

Case case_of(Job job) {
  Case the_case;
  the_case.scenario = "test";
  the_case.job = std::move(job);
  return the_case;
}

FailureClass node_failures(double per_node_day) {
  FailureClass failure;
  failure.name = "node";
  failure.kind = FailureKind::node;
  failure.rate_per_node_s = per_node_day / 86400;
  failure.repair.fixed_s = 86400;
  return failure;
}

Job with_campaign(Job job) {
  job.snapshots = {
      {.place = SnapshotPlace::storage, .mode = SnapshotMode::async, .every_iterations = 50}};
  job.failures = {node_failures(0.05)};
  job.recovery.detect_s = 30;
  job.recovery.restart_s = 60;
  job.campaign = {20 * 86400.0, 10, 1};
  return job;
}

double lost(const Record& record, Loss loss) {
  return record.campaign->lost_s[static_cast<int>(loss)].mean;
}

// HFU counts all operations that MFU counts, also those that a mask, Winograd's algorithm or an
// unneeded result saves.
TEST(Simulate, HfuIsNotBelowMfu) {
  const std::string machine = "name: a\ncluster: {nodes: 2, node: dgx-h100}\n";
  const std::string pipeline = machine + "layout: {pp: 4}\nbatch: {global: 64}\n";
  for (const std::string& text :
       {pipeline + "model: bert-large\nschedule: seq1f1b\n",
        pipeline + "model: bert-large\nschedule: {name: terapipe, slices: 8}\n",
        pipeline + "model: gpt-1.7b\nschedule: seq1f1b\nrecompute: selective\n",
        pipeline + "model: llama3-8b\nschedule: seq1f1b\n",
        machine + "model: resnet-50\nbatch: {global: 1024, micro: 64}\nprecision: fp32\n",
        machine + "model: mixtral-8x7b\nlayout: {tp: 4, ep: 8, sequence_parallel: true}\nbatch: "
                  "{global: 64}\n"}) {
    const Record record = simulate(parse_case(text, "a.yaml"), {.allow_oom = true});
    EXPECT_GE(record.iteration.hfu, record.iteration.mfu * (1 - 1e-9)) << text;
  }
}

TEST(Simulate, TheCriticalPathAddsUpToTheStep) {
  const Record record = simulate(case_of(small_job(2, 2, 2)));
  const auto& parts = record.iteration.critical_path_s;
  EXPECT_NEAR(std::accumulate(parts.begin(), parts.end(), 0.0), record.iteration.time_s,
              1e-9 * record.iteration.time_s);
  EXPECT_NEAR(std::accumulate(record.origin.begin(), record.origin.end(), 0.0), 1, 1e-12);
  EXPECT_LE(record.iteration.bubble.longest_stage_s, record.iteration.bubble.makespan_s + 1e-12);
  EXPECT_FALSE(record.campaign.has_value());
}

TEST(Simulate, FoldedAndUnfoldedGiveTheSameReport) {
  Job job = small_job(2, 2, 4);
  job.cluster.fabric.nodes_per_pod = 2;
  job.cluster.fabric.pod_oversubscription = 4;
  job.cluster.slow_nodes = {{3, 2}};  // not the first node of any class
  const Record folded = simulate(case_of(job));
  job.fold = FoldMode::none;
  const Record unfolded = simulate(case_of(job));
  EXPECT_LT(folded.timeline.ranks_simulated, unfolded.timeline.ranks_simulated);
  const double step_s = unfolded.iteration.time_s;
  EXPECT_NEAR(folded.iteration.time_s, step_s, 1e-6 * step_s);
  EXPECT_NEAR(folded.iteration.bubble.makespan_s, unfolded.iteration.bubble.makespan_s,
              1e-6 * step_s);
  EXPECT_NEAR(folded.iteration.bubble.idle, unfolded.iteration.bubble.idle, 1e-6);
  for (int i = 0; i < kCategories; ++i) {
    EXPECT_NEAR(folded.iteration.critical_path_s[i], unfolded.iteration.critical_path_s[i],
                1e-6 * step_s)
        << i;
  }
}

Job jittering(Job job, const Jitter& jitter) {
  job.cluster.jitter = jitter;
  return job;
}

TEST(Simulate, AJitteringStepIsTheMeanOfItsDraws) {
  const Job job = jittering(small_job(2, 2, 2), {.sigma = 0.1, .draws = 12});
  const Record record = simulate(case_of(job));
  const PreparedIteration prepared = prepare_iteration(job);
  std::vector<double> steps_s;
  for (int draw = 0; draw < 12; ++draw) {
    const Execution execution = run_iteration(job, prepared, {}, draw);
    steps_s.push_back(iteration_s(job, execution.plan, execution.timeline));
  }
  EXPECT_EQ(record.iteration.drawn_s, estimate(steps_s));
  EXPECT_EQ(record.iteration.time_s, estimate(steps_s).mean);
  EXPECT_LT(record.iteration.drawn_s->low, record.iteration.drawn_s->mean);
  // The iteration that is shown is one of the drawn ones, and its parts add up to the mean.
  const double shown_s = iteration_s(job, record.plan, record.timeline);
  EXPECT_NE(std::ranges::find(steps_s, shown_s), steps_s.end());
  const auto& parts = record.iteration.critical_path_s;
  EXPECT_NEAR(std::accumulate(parts.begin(), parts.end(), 0.0), record.iteration.time_s,
              1e-9 * record.iteration.time_s);
  EXPECT_NEAR(record.iteration.tokens_per_s * record.iteration.time_s,
              double(job.batch.global) * job.batch.sequence, 1e-6);
}

TEST(Simulate, JitterIsTheSameOnAnyNumberOfThreads) {
  const Job job = jittering(
      with_campaign(small_job(2, 1, 4)),
      {.bursts = {.good = 30, .bad = 5, .slowdown = 2}, .per = JitterPer::task, .draws = 5});
  const Record one = simulate(case_of(job), {.threads = 1});
  const Record four = simulate(case_of(job), {.threads = 4});
  EXPECT_EQ(one.iteration.drawn_s, four.iteration.drawn_s);
  EXPECT_EQ(one.iteration.critical_path_s, four.iteration.critical_path_s);
  EXPECT_EQ(one.campaign->goodput, four.campaign->goodput);
  EXPECT_EQ(one.timeline.makespan_s, four.timeline.makespan_s);
}

TEST(Simulate, AJitterThatChangesNothingIsNone) {
  const Job steady = with_campaign(small_job(2, 2, 2));
  const Record none = simulate(case_of(steady));
  for (const Jitter& jitter : {Jitter{.sigma = 0, .draws = 20, .seed = 7},
                               Jitter{.share = 0.5, .slowdown = 1, .per = JitterPer::task}}) {
    const Record same = simulate(case_of(jittering(steady, jitter)));
    EXPECT_EQ(same.iteration.time_s, none.iteration.time_s);
    EXPECT_FALSE(same.iteration.drawn_s.has_value());
    EXPECT_EQ(same.campaign->goodput, none.campaign->goodput);
  }
}

TEST(Simulate, FoldedAndUnfoldedJitterAlike) {
  for (const Jitter& jitter :
       {Jitter{.sigma = 0.1}, Jitter{.share = 0.1, .slowdown = 1.5, .per = JitterPer::task},
        Jitter{.bursts = {.good = 30, .bad = 5, .slowdown = 2}, .of = JitterOf::node}}) {
    Job job = jittering(small_job(2, 2, 4), jitter);
    job.communication.fidelity = Fidelity::flows;
    job.cluster.jitter.draws = 4;
    const Record folded = simulate(case_of(job));
    job.fold = FoldMode::none;
    const Record unfolded = simulate(case_of(job));
    EXPECT_LT(folded.timeline.ranks_simulated, unfolded.timeline.ranks_simulated);
    EXPECT_NEAR(folded.iteration.time_s, unfolded.iteration.time_s, 1e-6 * folded.iteration.time_s);
  }
}

// Only kernels slow down: a step without waits grows by their extra time, and its collectives do
// not.
TEST(Simulate, JitterSlowsKernelsAndNoCollectives) {
  Job job = small_job(4, 1, 1);
  const auto step_s = [](const Job& each) { return simulate(case_of(each)).iteration; };
  const IterationReport steady = step_s(job);
  const IterationReport slow = step_s(jittering(job, {.share = 1, .slowdown = 1.5}));
  const double tp_s = steady.critical_path_s[static_cast<int>(Category::tp)];
  ASSERT_GT(tp_s, 0);
  EXPECT_NEAR(slow.time_s, tp_s + 1.5 * (steady.time_s - tp_s), 1e-6 * steady.time_s);
}

TEST(Simulate, ASampleOfTheRanksIsNoted) {
  const std::string text =
      "name: a\nmodel: bert-large\nlayout: {pp: 4}\nbatch: {global: 1280, micro: 1}\ncluster: "
      "{nodes: 160, node: dgx-h100, fabric: {topology: rail-fat-tree, nodes_per_pod: 80, "
      "pod_oversubscription: 7, routing: ecmp}}\n";
  const auto noted = [](const Record& record) {
    return std::ranges::any_of(record.notes, [](const Note& note) {
      return note.key == "fold" && note.figures.find(" of ") != std::string::npos;
    });
  };
  const Record sampled = simulate(parse_case(text, "a.yaml"));
  EXPECT_LE(sampled.timeline.ranks_simulated, 256);
  EXPECT_TRUE(noted(sampled));
  const Record exact = simulate(parse_case(text + "fold: exact\n", "a.yaml"));
  EXPECT_GT(exact.timeline.ranks_simulated, 1024);
  EXPECT_FALSE(noted(exact));
  EXPECT_NEAR(sampled.iteration.time_s, exact.iteration.time_s, 0.1 * exact.iteration.time_s);
}

TEST(Simulate, ASlowNodeThatStaysIsStillSlowInTheShrunkJob) {
  Job job = with_campaign(small_job(4, 1, 4));
  job.cluster.slow_nodes = {{3, 3}};
  job.recovery.when_no_spare = WhenNoSpare::shrink;
  const Record record = simulate(case_of(job));
  EXPECT_GE(lost(record, Loss::degraded), 0);
  EXPECT_LT(record.campaign->goodput.mean, 1);
}

// The reported step is the compressed one; days and costs also count the dense steps of the
// warm-up.
TEST(Simulate, AWarmUpCountsInTheWholeRun) {
  Job job = with_campaign(small_job(1, 1, 8));
  job.layout.sharding = Sharding::none;
  job.tokens = 1e12;
  job.price_usd_per_gpu_s = 1e-3;
  const Record dense = simulate(case_of(job));
  EXPECT_EQ(dense.iteration.warmup.share, 0);
  job.communication.compressors.dp = {.name = "powersgd"};
  const Record at_once = simulate(case_of(job));
  EXPECT_EQ(at_once.iteration.warmup.step_s, 0);
  job.communication.compressors.dp.warmup = 0.25;
  const Record later = simulate(case_of(job));
  EXPECT_EQ(later.iteration.time_s, at_once.iteration.time_s);
  EXPECT_EQ(later.iteration.warmup.step_s, dense.iteration.time_s);
  EXPECT_NE(later.iteration.time_s, dense.iteration.time_s);
  const double longer = 0.75 + 0.25 * dense.iteration.time_s / at_once.iteration.time_s;
  EXPECT_NEAR(later.campaign->job_days.mean, longer * at_once.campaign->job_days.mean,
              1e-9 * later.campaign->job_days.mean);
  EXPECT_NEAR(later.campaign->job_cost_usd.mean, longer * at_once.campaign->job_cost_usd.mean,
              1e-9 * later.campaign->job_cost_usd.mean);
  // 1-bit LAMB has a warm-up by default.
  job.communication.compressors.dp = {.name = "onebit-lamb"};
  job.campaign = {};
  EXPECT_EQ(simulate(case_of(job)).iteration.warmup.share, 0.165);
}

TEST(Simulate, ACampaignTooShortForItsIterationsIsRefused) {
  Job job = with_campaign(small_job(1, 2, 2));
  job.campaign.length_s = 0.01;
  EXPECT_TRUE(fails([&] { simulate(case_of(job)); }, "campaign.length of 10.0 ms is too short"));
}

// The fault is found long after the key was read.
TEST(Simulate, AFaultHasThePlaceOfItsKey) {
  Job job = with_campaign(small_job(1, 2, 2));
  job.campaign.length_s = 0.01;
  Case the_case = case_of(job);
  the_case.places.add("campaign", {"a.yaml", 7, 1});
  the_case.places.add("campaign.length", {"a.yaml", 7, 21});
  const std::string message = error_of([&] { simulate(the_case); });
  EXPECT_TRUE(message.starts_with("a.yaml:7:21: campaign.length of 10.0 ms is too short"))
      << message;
}

TEST(Simulate, ClosedFormAndFlowsAgreeWhereGpusShareANic) {
  // Two GPUs share each NIC, so that two replica groups do; reduction follows the backward pass,
  // when the network is otherwise idle.
  Job job = small_job(4, 1, 8);
  job.cluster.node.nics = 2;
  job.communication.overlap = GradientOverlap::none;
  job.communication.fidelity = Fidelity::closed;
  const double closed_s = simulate(case_of(job)).iteration.critical_path_s[int(Category::dp)];
  job.communication.fidelity = Fidelity::flows;
  const double flows_s = simulate(case_of(job)).iteration.critical_path_s[int(Category::dp)];
  EXPECT_NEAR(closed_s, flows_s, 0.1 * flows_s);
}

TEST(Simulate, ADegradedNicSlowsTheStepOnWhicheverNodeItIs) {
  Job job = small_job(4, 1, 4);
  job.communication.fidelity = Fidelity::closed;
  job.cluster.degraded_nics = {{0, 0, 0.1}};
  const double first_s = simulate(case_of(job)).iteration.time_s;
  job.cluster.degraded_nics = {{3, 2, 0.1}};
  EXPECT_DOUBLE_EQ(simulate(case_of(job)).iteration.time_s, first_s);
  job.cluster.degraded_nics.clear();
  EXPECT_LT(simulate(case_of(job)).iteration.time_s, first_s);
}

TEST(Simulate, WhatDoesNotFitIsRefusedUnlessAllowed) {
  Job job = small_job(1, 2, 2);
  job.cluster.node.gpu.memory_bytes = spec(1e6);
  EXPECT_TRUE(fails([&] { simulate(case_of(job)); }, "pipeline rank", ExitCode::failed));
  const Record record = simulate(case_of(job), {.allow_oom = true});
  EXPECT_FALSE(record.memory_excess.empty());
  EXPECT_TRUE(record.source.allow_oom);
  EXPECT_FALSE(simulate(case_of(small_job(1, 2, 2)), {.allow_oom = true}).source.allow_oom);
  EXPECT_GT(record.iteration.time_s, 0);
}

TEST(Simulate, HostMemoryHoldsTwoCopiesOfEachHostTierAndOneOnTheWayToStorage) {
  Job job = small_job(1, 2, 2);
  job.snapshots = {
      {.place = SnapshotPlace::host_memory,
       .mode = SnapshotMode::async,
       .every_iterations = 10,
       .keeper_process = true},
      {.place = SnapshotPlace::storage, .mode = SnapshotMode::sync, .every_iterations = 100}};
  const double copy = [&] {
    const auto chunks = chunk_costs(job);
    const auto bytes = snapshot_bytes_per_gpu(job, chunks);
    return *std::max_element(bytes.begin(), bytes.end()) * job.cluster.node.gpus;
  }();
  job.cluster.node.host_memory_bytes = spec(3 * copy * 1.001);
  EXPECT_NO_THROW(simulate(case_of(job)));
  job.cluster.node.host_memory_bytes = spec(3 * copy * 0.999);
  EXPECT_THROW(simulate(case_of(job)), Error);
}

TEST(Simulate, WithoutSparesAShrunkJobGoesOnWhereAWaitingOneStands) {
  // Four nodes have four or eight replicas: a lost node takes one or two of them with it.
  for (const int tp : {4, 2}) {
    Job job = with_campaign(small_job(tp, 1, 16 / tp));
    ASSERT_EQ(job.cluster.nodes, 4);
    job.recovery.when_no_spare = WhenNoSpare::wait;
    const Record waits = simulate(case_of(job));
    job.recovery.when_no_spare = WhenNoSpare::shrink;
    const Record shrinks = simulate(case_of(job));
    EXPECT_GT(lost(waits, Loss::wait), 0);
    EXPECT_EQ(lost(waits, Loss::degraded), 0);
    EXPECT_GT(lost(shrinks, Loss::degraded), 0);
    EXPECT_LT(lost(shrinks, Loss::wait), 0.1 * lost(waits, Loss::wait));
    EXPECT_GT(shrinks.campaign->goodput.mean, waits.campaign->goodput.mean);
  }
}

TEST(Simulate, AShrunkJobKeepsWholeGroupsOfExpertsAndShards) {
  // Four nodes have four replicas: a lost node takes one of them with it, or two if replicas form
  // pairs.
  Job job = with_campaign(small_job(4, 1, 4));
  job.recovery.when_no_spare = WhenNoSpare::shrink;
  job.model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 1024};
  const auto degraded = [&](int ep, int shard_ranks) {
    job.layout.ep = ep;
    job.layout.shard_ranks = shard_ranks;
    return lost(simulate(case_of(job)), Loss::degraded);
  };
  const double one = degraded(1, 0);
  EXPECT_GT(one, 0);
  EXPECT_GT(degraded(8, 0), 1.5 * one);
  EXPECT_GT(degraded(1, 2), 1.5 * one);
  EXPECT_DOUBLE_EQ(degraded(1, 4), one);
}

// In the smaller job, too, memory includes the weight versions that an asynchronous schedule keeps.
TEST(Simulate, AShrunkJobHasToFitInMemory) {
  Job job = with_campaign(small_job(4, 2, 4));
  job.schedule.name = "pipedream";
  job.layout.sharding = Sharding::zero1;
  job.recovery.when_no_spare = WhenNoSpare::shrink;
  EXPECT_GT(lost(simulate(case_of(job)), Loss::degraded), 0);
  double most = 0;
  for (const GpuMemory& at : prepare_iteration(job).memory) most = std::max(most, at.total());
  GpuSpec& gpu = job.cluster.node.gpu;
  gpu.memory_bytes = spec(1.0001 * most * gpu.memory_bytes.value / usable_bytes(gpu));
  EXPECT_EQ(lost(simulate(case_of(job)), Loss::degraded), 0);
}

TEST(Simulate, HardwareFlopsCountWhatIsRecomputed) {
  Job job = small_job(1, 4, 1);
  const auto flops_over_model = [&](Recompute recompute, const char* schedule, double share) {
    job.recompute = recompute;
    job.schedule.name = schedule;
    job.schedule.recompute_share = share;
    const IterationReport report = simulate(case_of(job)).iteration;
    return report.hfu / report.mfu;
  };
  const double none = flops_over_model(Recompute::none, "1f1b", 1);
  const double full = flops_over_model(Recompute::full, "1f1b", 1);
  EXPECT_GT(full, 1.1 * none);
  EXPECT_DOUBLE_EQ(flops_over_model(Recompute::full, "1f1b", 0), none);
  EXPECT_DOUBLE_EQ(flops_over_model(Recompute::full, "pre-recompute-1f1b", 1), full);
  const double but_last = flops_over_model(Recompute::full, "last-no-recompute-1f1b", 1);
  EXPECT_NEAR(but_last, (none + 3 * full) / 4, 1e-9);
}

TEST(Simulate, AnAsynchronousSnapshotStallsLessThanASynchronousOne) {
  Job job = with_campaign(small_job(1, 2, 4));
  job.cluster.storage.write_Bps = spec(1e9);
  const Record async = simulate(case_of(job));
  job.snapshots[0].mode = SnapshotMode::sync;
  const Record sync = simulate(case_of(job));
  EXPECT_LT(lost(async, Loss::stall), lost(sync, Loss::stall));
}

// Every study that a scenario can ask for also runs: it has a row in both tables.
TEST(Studies, WhatCanBeAskedForIsRun) {
  EXPECT_EQ(studies().size(), asked_studies().size());
}

}  // namespace
}  // namespace windtunnel
