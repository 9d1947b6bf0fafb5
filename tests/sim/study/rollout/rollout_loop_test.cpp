#include "sim/study/rollout/rollout_loop.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/random.hpp"
#include "tests/sim/study/rollout/equal_generation.hpp"

namespace windtunnel {
namespace {

EngineSpeed speed_of(int slots) {
  EngineSpeed speed{.base_s = {0},
                    .context_s = 1e-8,
                    .prompt_token_s = 2e-5,
                    .prompt_square_s = 1e-10,
                    .capacity = 1e9};
  for (int b = 1; b <= slots; ++b) speed.base_s.push_back(0.01 + 1e-5 * b);
  return speed;
}

LoopInputs inputs_of(RolloutMode mode, double sigma, double token_s = 2e-5) {
  LoopInputs inputs;
  inputs.spec.mode = mode;
  inputs.spec.nodes = 1;
  inputs.spec.prompts = 32;
  inputs.spec.samples = 4;
  inputs.spec.prompt_length = 200;
  inputs.spec.output = {.median = 1000, .sigma = sigma, .longest = 8000};
  inputs.spec.iterations = 6;
  inputs.engines = {{speed_of(64), 8}};
  inputs.token_s = token_s;
  inputs.transfer_s = inputs.stop_s = 0.7;
  return inputs;
}

double near(double value) {
  return 1e-6 * value;
}

// If all lengths are equal, the period is a sum or a maximum of the three phases.
TEST(RolloutLoop, ThePeriodIsTheClosedForm) {
  for (int seed = 0; seed < 60; ++seed) {
    RandomStream random(seed, RandomPurpose::test, 31);
    LoopInputs inputs = inputs_of(RolloutMode::synchronous, 0, random.uniform() * 2e-4);
    inputs.engines.front().engines = 1 + static_cast<int>(random.below(12));
    inputs.transfer_s = inputs.stop_s = random.uniform();
    inputs.spec.reward_s = random.uniform();
    const double generation = equal_generation_s(inputs.engines.front().speed,
                                                 engines_of(inputs.engines), {200, 1000}, 128);
    const double training = 128 * 1200 * inputs.token_s + inputs.spec.reward_s;
    const LoopTimes sync = run_loop(inputs);
    const double sum = generation + training + inputs.transfer_s;
    EXPECT_NEAR(sync.period_s, sum, near(sum));
    EXPECT_NEAR(sync.learner_idle, generation / sum, 1e-6);
    inputs.spec.mode = RolloutMode::one_step_off;
    const double most = std::max(generation, training) + inputs.transfer_s;
    EXPECT_NEAR(run_loop(inputs).period_s, most, near(most));
    // One batch at a time equals the synchronous loop.
    inputs.spec.mode = RolloutMode::asynchronous;
    inputs.spec.staleness = 0;
    EXPECT_NEAR(run_loop(inputs).period_s, sum, near(sum)) << seed;
  }
}

TEST(RolloutLoop, WithoutStalenessUnequalSamplesAreSynchronousToo) {
  LoopInputs inputs = inputs_of(RolloutMode::synchronous, 1);
  inputs.spec.iterations = 40;
  const LoopTimes sync = run_loop(inputs);
  inputs.spec.mode = RolloutMode::asynchronous;
  inputs.spec.staleness = 0;
  const LoopTimes without = run_loop(inputs);
  // This loop measures other batches, namely those after the warm-up.
  EXPECT_NEAR(without.period_s, sync.period_s, 0.05 * sync.period_s);
  EXPECT_EQ(without.staleness, 0);
}

// If the learner is slower than the engines, it is never idle and they wait. If the engines are
// slower, the learner waits.
TEST(RolloutLoop, TheSlowerOneSetsThePace) {
  LoopInputs inputs = inputs_of(RolloutMode::asynchronous, 1, 3e-3);
  inputs.spec.staleness = 2;
  const LoopTimes slow_learner = run_loop(inputs);
  EXPECT_NEAR(slow_learner.period_s, slow_learner.training_s + inputs.transfer_s,
              near(slow_learner.period_s));
  EXPECT_NEAR(slow_learner.learner_idle, 0, 1e-9);
  EXPECT_GT(slow_learner.actors_idle, 0.5);
  inputs.token_s = 1e-7;
  inputs.spec.staleness = 8;
  const LoopTimes slow_engines = run_loop(inputs);
  EXPECT_GT(slow_engines.learner_idle, 0.9);
  EXPECT_LT(slow_engines.actors_idle, 0.02);
}

// The wider lengths spread, the more asynchrony gains, because it hides the long tail.
TEST(RolloutLoop, AsynchronyGainsByTheLongTail) {
  double gain_before = 1;
  for (const double sigma : {0.0, 0.5, 1.0}) {
    LoopInputs inputs = inputs_of(RolloutMode::synchronous, sigma, 5e-5);
    const double sync = run_loop(inputs).period_s;
    inputs.spec.mode = RolloutMode::one_step_off;
    const double beside = run_loop(inputs).period_s;
    inputs.spec.mode = RolloutMode::asynchronous;
    inputs.spec.staleness = 4;
    const LoopTimes loop = run_loop(inputs);
    EXPECT_LT(beside, sync);
    EXPECT_LT(loop.period_s, beside * 1.001);
    EXPECT_GT(sync / loop.period_s, gain_before);
    gain_before = sync / loop.period_s;
    EXPECT_LE(loop.staleness, 5);  // the limit, plus the version in training
    EXPECT_GE(loop.actors_idle, 0);
    EXPECT_LE(loop.actors_idle, 1);
  }
}

TEST(RolloutLoop, MoreStalenessIsNoSlower) {
  LoopInputs inputs = inputs_of(RolloutMode::asynchronous, 1);
  inputs.spec.keeps_cache = true;
  double before = 1e9;
  for (const int staleness : {0, 1, 2, 4, 8}) {
    inputs.spec.staleness = staleness;
    inputs.spec.iterations = 20;
    const LoopTimes times = run_loop(inputs);
    EXPECT_LT(times.period_s, before * 1.02) << staleness;
    EXPECT_LE(times.staleness, staleness + 1) << staleness;
    before = times.period_s;
  }
}

TEST(RolloutLoop, KeysAndValuesThatAreKeptAreNotComputedAgain) {
  LoopInputs inputs = inputs_of(RolloutMode::asynchronous, 1, 1e-6);
  inputs.spec.staleness = 4;
  inputs.engines.front().speed.prompt_token_s = 1e-3;
  const double again = run_loop(inputs).period_s;
  inputs.spec.keeps_cache = true;
  EXPECT_LT(run_loop(inputs).period_s, again);
}

// Failures are simulated and compared with the renewal formula, for engines that always have work.
TEST(RolloutLoop, FailuresLoseTheAgeOfWhatIsUnderWay) {
  const EngineSpeed speed = speed_of(16);
  RolloutSpec spec;
  spec.prompts = 4000;
  spec.prompt_length = 1;
  spec.output = {.median = 500, .sigma = 0.8, .longest = 5000};
  const std::vector<RolloutSample> samples = draw_batch(spec, 0);
  constexpr double kRate = 1.0 / 400;  // writing 500 tokens takes about 5 s
  constexpr double kAway_s = 20;
  LoopTimes times;
  double lost = 0, written = 0, failures = 0;
  for (int trial = 0; trial < 40; ++trial) {
    EnginePool pool(speed, 4);
    pool.submit(0, samples);
    RandomStream random(trial, RandomPurpose::test, 32);
    double at_s = 0;
    int ended = 0;
    while (ended < 3600) {  // the queue is never empty
      at_s += random.exponential(1 / (4 * kRate));
      while (ended < 3600 && pool.next(at_s)) ++ended;
      if (ended == 3600) break;
      pool.fail(static_cast<int>(random.below(4)), at_s, kAway_s);
      ++failures;
    }
    lost += pool.totals().lost;
    written += pool.totals().written;
    times.token_time_s += pool.totals().sequence_s / pool.totals().written / 40;
  }
  for (const RolloutSample& each : samples) {
    times.output_tokens += each.output / static_cast<double>(samples.size());
    times.square_tokens += each.output * each.output / static_cast<double>(samples.size());
  }
  ASSERT_GT(failures, 60);
  // In this simulation engines that are down also fail, without effect.
  const EngineLosses losses = engine_losses(times, kRate, kAway_s);
  const double busy_share = 1 - losses.away_share;
  const double expected = losses.lost_share * busy_share / (1 - losses.away_share);
  const double simulated = lost / (written - lost);
  EXPECT_NEAR(simulated, expected, 3 * expected / std::sqrt(failures));
  EXPECT_NEAR(losses.away_share, kRate * kAway_s / (1 + kRate * kAway_s), 1e-12);
}

TEST(RolloutLoop, LossesOfEnginesThatWaitAnywayCostNothing) {
  LoopInputs inputs = inputs_of(RolloutMode::one_step_off, 0, 1e-3);
  const LoopTimes times = run_loop(inputs);
  ASSERT_GT(times.training_s, 2 * times.generation_s);
  const EngineLosses losses{.lost_share = 0.1, .away_share = 0.1};
  EXPECT_EQ(period_with(times, inputs, losses), times.period_s);
  inputs.spec.mode = RolloutMode::synchronous;
  EXPECT_NEAR(period_with(times, inputs, losses),
              times.period_s + times.generation_s * (1.1 / 0.9 - 1), 1e-9);
  EXPECT_EQ(period_with(times, inputs, {}), times.period_s);
}

TEST(RolloutLoop, ColocatedPhasesAddUp) {
  LoopInputs inputs = inputs_of(RolloutMode::synchronous, 0.8);
  inputs.spec.colocated = true;
  inputs.switch_s = 1.5;
  const LoopTimes times = run_loop(inputs);
  EXPECT_NEAR(times.period_s, times.generation_s + times.training_s + 0.7 + 1.5,
              near(times.period_s));
  EXPECT_EQ(times.actors_idle, times.learner_idle);
  EXPECT_GT(times.actors_idle, 0);
}

TEST(RolloutLoop, BatchesAreDrawnByTheirNumber) {
  const RolloutSpec spec = inputs_of(RolloutMode::synchronous, 1).spec;
  const auto outputs = [&](int iteration) {
    std::vector<double> all;
    for (const RolloutSample& each : draw_batch(spec, iteration)) all.push_back(each.output);
    return all;
  };
  EXPECT_EQ(outputs(3), outputs(3));
  EXPECT_NE(outputs(3), outputs(4));
}

}  // namespace
}  // namespace windtunnel
