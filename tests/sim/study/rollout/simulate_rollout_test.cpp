#include "sim/study/rollout/simulate_rollout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/cost/chunk/step_work.hpp"
#include "models/cost/inference/engine_speed.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"
#include "tests/sim/study/rollout/equal_generation.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

std::string text_of(const std::string& rollout, const std::string& rest = {}) {
  return fmt::format(
      "name: loop\nmodel: llama3-8b\ncluster: {{nodes: 2, node: dgx-h100, storage: {{write: 10 "
      "GB/s, read: 10 GB/s}}}}\nlayout: {{tp: 2, "
      "sharding: zero1}}\nbatch: {{global: 32, micro: 1, sequence: 4096}}\nrecompute: selective\n"
      "rollout: {{prompts: 32, samples: 4, prompt_length: 256, engine: {{tp: 2}}, iterations: 3, "
      "{}}}\njob: {{price: 2 USD per gpu-hour}}\n{}",
      rollout, rest);
}

Record run(const std::string& rollout, const std::string& rest = {}) {
  return simulate(parse_case(text_of(rollout, rest), "loop.yaml"), {.threads = 2});
}

RolloutReport loop_of(const std::string& rollout, const std::string& rest = {}) {
  return *run(rollout, rest).studies.find<RolloutReport>();
}

constexpr const char* kEqual = "nodes: 2, output: {median: 1000, sigma: 0, longest: 2000}";

TEST(SimulateRollout, TheParts) {
  const Record record = run(kEqual);
  const RolloutReport& report = *record.studies.find<RolloutReport>();
  EXPECT_EQ(report.engines, 8);
  EXPECT_EQ(report.gpus, 32);
  EXPECT_EQ(report.actor_gpus, 16);
  const double tokens = 128 * 1256;
  const RolloutSpec& spec = report.spec;
  EXPECT_NEAR(report.training_s,
              spec.update_factor * tokens / tokens_per_step(record.job) * record.iteration.time_s,
              1e-9 * report.training_s);
  const LearnerPace pace = learner_pace(record.iteration);
  EXPECT_NEAR(report.generation_s,
              equal_generation_s(engine_speeds(record.job, spec, pace).at(-1), 8, {256, 1000}, 128),
              1e-9 * report.generation_s);
  EXPECT_NEAR(report.period_s, report.generation_s + report.training_s + report.transfer.seconds,
              1e-6 * report.period_s);
  EXPECT_NEAR(report.samples_per_s, 128 / report.period_s, 1e-9 * report.samples_per_s);
  EXPECT_NEAR(report.usd_per_sample, 2.0 / 3600 * 32 / report.samples_per_s,
              1e-9 * report.usd_per_sample);
  EXPECT_EQ(report.lost_share, 0);
}

// The host's time is added to every decoding step; the factor applies to updates only.
TEST(SimulateRollout, HostAndFactorOfUpdates) {
  const RolloutReport plain = loop_of(kEqual);
  const RolloutReport slower =
      loop_of("nodes: 2, update_factor: 2.36, output: {median: 1000, sigma: 0, longest: 2000}");
  EXPECT_NEAR(slower.training_s, 2 * plain.training_s, 1e-9 * plain.training_s);
  EXPECT_EQ(slower.generation_s, plain.generation_s);
  const Record record = run(kEqual);
  RolloutSpec spec = plain.spec;
  const LearnerPace pace = learner_pace(record.iteration);
  const double before_s = engine_speeds(record.job, spec, pace).at(-1).base_s.at(16);
  spec.engine.host_step_s += 0.004;
  EXPECT_NEAR(engine_speeds(record.job, spec, pace).at(-1).base_s.at(16), before_s + 0.004, 1e-12);
}

// Gathering makes one collective per tensor, and experts have many. Colocated engines gather, too.
TEST(SimulateRollout, GatheredWeights) {
  const RolloutReport apart = loop_of(std::string(kEqual) + ", weights: gather");
  const Record record =
      run("colocated: true, weights: gather, output: {median: 1000, sigma: 0, "
          "longest: 2000}");
  const RolloutReport& colocated = *record.studies.find<RolloutReport>();
  const double tensors_s =
      record.job.calibration.gathered_tensor_s.value * weight_tensors(record.job.model);
  EXPECT_NEAR(apart.transfer.seconds, apart.transfer.transfer_s + tensors_s, 1e-12);
  // The tp ranks share a node; separate engines are reached over NICs.
  EXPECT_NEAR(apart.transfer.bound_s,
              apart.transfer.model_bytes / 50e9 + colocated.transfer.bound_s, 1e-6);
  EXPECT_GE(colocated.transfer.seconds, tensors_s);
  TransformerSpec experts = record.job.model;
  experts.moe = {.experts = 128, .per_token = 8, .ffn_hidden = 768};
  EXPECT_GT(weight_tensors(experts), 128 * 3 * experts.layers);
}

// Engines that take new weights without a drain continue to write while tensors are gathered.
TEST(SimulateRollout, InFlightWeightsStopEnginesForTheirBytes) {
  const std::string rest = ", mode: asynchronous, weights: gather";
  const RolloutReport drained = loop_of(kEqual + rest);
  const RolloutReport in_flight = loop_of(kEqual + rest + ", keep_cache: true");
  EXPECT_LT(in_flight.period_s, drained.period_s);
}

TEST(SimulateRollout, PassesAndEpochsAreTheLearners) {
  const double once = loop_of(kEqual).training_s;
  EXPECT_NEAR(loop_of(fmt::format("{}, epochs: 3", kEqual)).training_s, 3 * once, 1e-9 * once);
  const double passes = loop_of(fmt::format("{}, passes: 2, reward: 7 s", kEqual)).training_s - 7;
  EXPECT_GT(passes, once * (1 + 2 * 0.25));
  EXPECT_LT(passes, once * (1 + 2 * 0.4));
}

TEST(SimulateRollout, EnginesFailAsNodesDo) {
  const std::string failures =
      "failures: [{class: node, rate: 5 per node-day, repair: 1 h}]\nrecovery: {spares: 1}\n";
  const RolloutReport without = loop_of(kEqual);
  const RolloutReport with = loop_of(kEqual, failures);
  EXPECT_GT(with.lost_share, 0);
  EXPECT_GT(with.away_share, 5 * 200.0 / 86400);  // detection and restart take minutes
  EXPECT_GT(with.period_s, without.period_s);
}

TEST(SimulateRollout, TheLearnersCampaignCounts) {
  const Record record =
      run(kEqual,
          "snapshots: [{tier: storage, every: 30 min}]\nfailures: [{class: node, rate: 6.5 per "
          "1000 node-days}]\ncampaign: {length: 5 d, replicas: 5}\n");
  const RolloutReport& report = *record.studies.find<RolloutReport>();
  EXPECT_EQ(report.availability, record.campaign->goodput.mean);
  EXPECT_NEAR(report.samples_per_s, 128 / report.period_s * report.availability, 1e-12);
}

TEST(SimulateRollout, ColocatedEnginesHaveWhatTheLearnerLeaves) {
  const std::string output = "output: {median: 1000, sigma: 0.8, longest: 3000}";
  const RolloutReport moved = loop_of("colocated: true, " + output);
  const RolloutReport kept = loop_of("colocated: true, offload: false, " + output);
  EXPECT_GT(moved.switch_s, 0);
  EXPECT_EQ(kept.switch_s, 0);
  EXPECT_LE(kept.slots, moved.slots);
  EXPECT_EQ(moved.gpus, 16);
}

// If the learner trains adapters, its step is as without engines, and only the adapters are sent.
TEST(SimulateRollout, ALearnerOfAdapters) {
  const RolloutReport whole = loop_of(kEqual);
  const Record record = run(kEqual, "train: {adapter: {kind: lora, rank: 16}}\n");
  const RolloutReport& lora = *record.studies.find<RolloutReport>();
  EXPECT_EQ(lora.transfer.model_bytes, changed_weight_bytes(record.job));
  EXPECT_LT(lora.transfer.model_bytes, 0.01 * whole.transfer.model_bytes);
  EXPECT_LT(lora.transfer.seconds, whole.transfer.seconds);
  EXPECT_NEAR(
      lora.training_s,
      lora.spec.update_factor * 128 * 1256 / tokens_per_step(record.job) * record.iteration.time_s,
      1e-9 * lora.training_s);
  EXPECT_GT(lora.generation_s, whole.generation_s);
  EXPECT_NEAR(lora.period_s, lora.generation_s + lora.training_s + lora.transfer.seconds,
              1e-6 * lora.period_s);
}

TEST(SimulateRollout, TheEstimateIsNearTheSimulation) {
  const Case the_case = parse_case(text_of(kEqual), "loop.yaml");
  const LearnerPace estimated = estimated_pace(the_case.job, *the_case.prepared);
  const LearnerPace simulated = learner_pace(simulate(the_case, {.threads = 2}).iteration);
  EXPECT_NEAR(estimated.step_s, simulated.step_s, 0.1 * simulated.step_s);
  EXPECT_NEAR(estimated.forward_share, simulated.forward_share, 0.05);
  EXPECT_EQ(estimated.saved_bytes, simulated.saved_bytes);
}

std::string on_pools(const char* old_node, const std::string& rollout) {
  return fmt::format(
      "name: pools\nmodel: llama3-8b\ncluster: {{pools: [{{name: new, nodes: 1, node: dgx-h100, "
      "price: 2 USD per gpu-hour}}, {{name: old, nodes: 1, node: {}, price: 1 USD per "
      "gpu-hour}}], storage: {{write: 10 GB/s, read: 10 GB/s}}}}\nlayout: {{tp: 2, sharding: "
      "zero1}}\nbatch: {{global: 32, micro: 1, sequence: 4096}}\nrecompute: selective\nrollout: "
      "{{prompts: 32, samples: 4, prompt_length: 256, engine: {{tp: 2}}, iterations: 3, {}}}\n",
      old_node, rollout);
}

RolloutReport loop_on_pools(const char* old_node, const std::string& rollout) {
  const Record record =
      simulate(parse_case(on_pools(old_node, rollout), "pools.yaml"), {.threads = 2});
  return *record.studies.find<RolloutReport>();
}

// Engines are as fast as their nodes; two pools with the same node equal one machine.
TEST(SimulateRollout, EnginesStandOnOneOfThePools) {
  const std::string output = "output: {median: 1000, sigma: 0, longest: 2000}";
  const RolloutReport on_new = loop_on_pools("dgx-a100", "nodes: 2, pool: new, " + output);
  const RolloutReport on_old = loop_on_pools("dgx-a100", "nodes: 2, pool: old, " + output);
  EXPECT_EQ(on_old.engines, 8);
  EXPECT_GT(on_old.generation_s, 1.3 * on_new.generation_s);
  EXPECT_NEAR(on_old.training_s, on_new.training_s, 1e-9 * on_new.training_s);
  // GPU hours of the learner's 16 GPUs cost 1.5 USD on average, those of the engines' 16 cost 1 or
  // 2 USD.
  EXPECT_NEAR(on_old.usd_per_sample * on_old.samples_per_s * 3600, 16 * 1.5 + 16 * 1, 1e-6);
  EXPECT_NEAR(on_new.usd_per_sample * on_new.samples_per_s * 3600, 16 * 1.5 + 16 * 2, 1e-6);
  const RolloutReport alike = loop_on_pools("dgx-h100", "nodes: 2, pool: old, " + output);
  const RolloutReport one = loop_of("nodes: 2, " + output);
  EXPECT_NEAR(alike.generation_s, one.generation_s, 1e-9 * one.generation_s);
  EXPECT_NEAR(alike.transfer.seconds, one.transfer.seconds, 1e-6 * one.transfer.seconds);
}

TEST(SimulateRollout, ColocatedEnginesHaveTheSpeedOfTheirNodes) {
  const std::string rollout = "colocated: true, output: {median: 1000, sigma: 0, longest: 2000}";
  const double mixed_s = loop_on_pools("dgx-a100", rollout).generation_s;
  const double fast_s = loop_on_pools("dgx-h100", rollout).generation_s;
  EXPECT_GT(mixed_s, fast_s);
  EXPECT_LT(mixed_s, 2.2 * fast_s);
}

TEST(SimulateRollout, ThePoolOfEnginesIsNamed) {
  const auto fault = [](const std::string& rollout) {
    return error_of([&] { parse_case(on_pools("dgx-a100", rollout), "pools.yaml"); });
  };
  const std::string output = ", output: {median: 1000, sigma: 0, longest: 2000}";
  EXPECT_THAT(fault("nodes: 2" + output),
              testing::HasSubstr("rollout.pool: is missing; the nodes of engines"));
  EXPECT_THAT(fault("nodes: 2, pool: newer" + output), testing::HasSubstr("there is no 'newer'"));
  EXPECT_THAT(fault("colocated: true, pool: old" + output), testing::HasSubstr("rollout.pool"));
}

}  // namespace
}  // namespace windtunnel
