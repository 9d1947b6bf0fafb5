#include "sim/study/rollout/engine_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/base/random.hpp"
#include "tests/sim/study/rollout/equal_generation.hpp"

namespace windtunnel {
namespace {

EngineSpeed pool_speed(int slots, double capacity = 1e9, double context_s = 1e-7) {
  EngineSpeed speed{.base_s = {0},
                    .context_s = context_s,
                    .prompt_token_s = 2e-5,
                    .prompt_square_s = 1e-9,
                    .capacity = capacity};
  for (int b = 1; b <= slots; ++b) speed.base_s.push_back(0.01 + 1e-4 * b);
  return speed;
}

std::vector<RolloutSample> random_samples(int count, int seed, double longest = 500) {
  RandomStream random(seed, RandomPurpose::test, 21);
  std::vector<RolloutSample> samples;
  for (int i = 0; i < count; ++i) {
    samples.push_back({1.0 + static_cast<double>(random.below(100)),
                       1.0 + std::floor(longest * std::pow(random.uniform(), 3))});
  }
  return samples;
}

double output_of(const std::vector<RolloutSample>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0,
                         [](double sum, const RolloutSample& each) { return sum + each.output; });
}

TEST(EnginePool, EqualSamplesTakeTheClosedForm) {
  for (int seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, RandomPurpose::test, 22);
    const int engines = 1 + static_cast<int>(random.below(9));
    const int count = 1 + static_cast<int>(random.below(200));
    const RolloutSample sample{1.0 + random.below(2000), 1.0 + random.below(3000)};
    const EngineSpeed speed = pool_speed(1 + static_cast<int>(random.below(40)));
    const double simulated =
        generation_s(speed, engines, std::vector<RolloutSample>(count, sample));
    const double closed = equal_generation_s(speed, engines, sample, count);
    ASSERT_NEAR(simulated, closed, 1e-9 * closed) << "seed " << seed;
  }
}

// Simulates one engine token by token, without a limit of memory.
double step_by_step_s(const EngineSpeed& speed, const std::vector<RolloutSample>& samples) {
  struct Running {
    double context, left;
  };
  std::vector<Running> running;
  std::size_t next = 0;
  double now_s = 0;
  while (next < samples.size() || !running.empty()) {
    while (next < samples.size() && std::ssize(running) < speed.most_sequences()) {
      const RolloutSample& sample = samples[next++];
      now_s += speed.prompt_s(sample.prompt);
      running.push_back({sample.prompt + 1, sample.output - 1});
    }
    const auto ended = [](const Running& each) { return each.left == 0; };
    if (std::ranges::none_of(running, ended)) {
      double context = 0;
      for (const Running& each : running) context += each.context;
      now_s += speed.base_s[running.size()] + speed.context_s * context;
      for (Running& each : running) {
        ++each.context;
        --each.left;
      }
    }
    std::erase_if(running, ended);
  }
  return now_s;
}

TEST(EnginePool, EventsAreTheStepsBetweenThem) {
  for (int seed = 0; seed < 50; ++seed) {
    const EngineSpeed speed = pool_speed(1 + seed % 13);
    const std::vector<RolloutSample> samples = random_samples(60, seed);
    const double exact = step_by_step_s(speed, samples);
    EXPECT_NEAR(generation_s(speed, 1, samples), exact, 1e-9 * exact) << seed;
  }
}

TEST(EnginePool, EverySampleEndsOnceAndAllTokensAreWritten) {
  for (int seed = 0; seed < 60; ++seed) {
    // Memory holds only a few sequences, so that some go back to the queue.
    EnginePool pool(pool_speed(16, 1200), 1 + seed % 4);
    const std::vector<RolloutSample> samples = random_samples(80, seed);
    pool.submit(0, samples);
    std::vector<int> ends(samples.size());
    double last_s = 0;
    while (const auto ended = pool.next()) {
      ++ends[ended->sample];
      EXPECT_GE(ended->at_s, last_s);
      last_s = ended->at_s;
    }
    EXPECT_TRUE(std::ranges::all_of(ends, [](int times) { return times == 1; })) << seed;
    EXPECT_NEAR(pool.totals().written, output_of(samples), 1e-6) << seed;
    EXPECT_GT(pool.totals().returned, 0) << seed;
    EXPECT_LE(pool.totals().busy_s, last_s * pool.engines() * (1 + 1e-12));
  }
}

TEST(EnginePool, MoreEnginesMoreSlotsAndMoreMemoryAreNoSlower) {
  for (int seed = 0; seed < 30; ++seed) {
    const std::vector<RolloutSample> samples = random_samples(100, seed);
    const double one = generation_s(pool_speed(8), 1, samples);
    EXPECT_LE(generation_s(pool_speed(8), 2, samples), one);
    EXPECT_LE(generation_s(pool_speed(16), 1, samples), one);
    EXPECT_LE(generation_s(pool_speed(8, 1e9), 1, samples),
              generation_s(pool_speed(8, 1500), 1, samples) * (1 + 1e-12));
  }
}

// Every generation takes at least as long as its longest sample alone, and as all tokens at the
// best rate.
TEST(EnginePool, BoundedByTheLongestSampleAndTheBestRate) {
  for (int seed = 0; seed < 40; ++seed) {
    const int engines = 1 + seed % 5;
    const EngineSpeed speed = pool_speed(16);
    const std::vector<RolloutSample> samples = random_samples(120, seed);
    const double simulated = generation_s(speed, engines, samples);
    for (const RolloutSample& each : samples) {
      ASSERT_GE(simulated, speed.prompt_s(each.prompt) +
                               speed.decode_s(each.output - 1, 1, each.prompt + 1) - 1e-9);
    }
    double work_s = 0;
    for (const RolloutSample& each : samples) {
      work_s += speed.prompt_s(each.prompt) + (each.output - 1) * speed.base_s[16] / 16;
    }
    ASSERT_GE(simulated, work_s / engines * (1 - 1e-9));
  }
}

TEST(EnginePool, APauseHoldsAllUpAndComputesAgain) {
  const EngineSpeed speed = pool_speed(4, 1e9, 0);
  const std::vector<RolloutSample> samples(4, RolloutSample{100, 101});
  const double alone = generation_s(speed, 1, samples);
  for (const bool again : {false, true}) {
    EnginePool pool(speed, 1);
    pool.submit(0, samples);
    EXPECT_FALSE(pool.next(0.1));
    pool.pause(0.1, 5, again);
    double end_s = 0;
    while (const auto ended = pool.next()) end_s = ended->at_s;
    // In 0.1 s up to ten steps of at most 10.4 ms were done, with contexts of 102 to 111 tokens.
    const double cache_s = again ? 4 * speed.prompt_s(101) : 0;
    EXPECT_GE(end_s, alone + 5 + cache_s - 1e-9);
    EXPECT_LE(end_s, alone + 5 + (again ? 4 * speed.prompt_s(111) : 0) + 1e-9);
  }
}

TEST(EnginePool, AFailedEnginesSamplesAreWrittenByOthers) {
  for (int seed = 0; seed < 40; ++seed) {
    RandomStream random(seed, RandomPurpose::test, 23);
    EnginePool pool(pool_speed(8), 3);
    const std::vector<RolloutSample> samples = random_samples(60, seed);
    const double undisturbed = generation_s(pool_speed(8), 3, samples);
    pool.submit(0, samples);
    std::vector<int> ends(samples.size());
    const double at_s = random.uniform() * undisturbed;
    while (const auto ended = pool.next(at_s)) ++ends[ended->sample];
    pool.fail(static_cast<int>(random.below(3)), at_s, undisturbed / 4);
    while (const auto ended = pool.next()) ++ends[ended->sample];
    EXPECT_TRUE(std::ranges::all_of(ends, [](int times) { return times == 1; })) << seed;
    EXPECT_NEAR(pool.totals().written, output_of(samples) + pool.totals().lost, 1e-6) << seed;
  }
}

// Engines of unlike speeds share one queue: with many equal samples each writes in proportion to
// its speed, and two groups with one speed equal a single group.
TEST(EnginePool, UnlikeEnginesShareOneQueue) {
  EngineSpeed fast = pool_speed(4, 1e9, 0);
  EngineSpeed slow = fast;
  for (double& seconds : slow.base_s) seconds *= 2;
  fast.prompt_token_s = slow.prompt_token_s = fast.prompt_square_s = slow.prompt_square_s = 0;
  const std::vector<RolloutSample> samples(600, RolloutSample{100, 101});
  const auto last_s = [&](const std::vector<EngineGroup>& groups) {
    EnginePool pool(groups);
    pool.submit(0, samples);
    double end_s = 0;
    while (const auto ended = pool.next()) end_s = ended->at_s;
    return end_s;
  };
  const double of_fast = last_s({{fast, 3}});
  EXPECT_NEAR(last_s({{fast, 1}, {fast, 2}}), of_fast, 1e-9 * of_fast);
  // Two engines and two of half the speed equal three engines.
  EXPECT_NEAR(last_s({{fast, 2}, {slow, 2}}), of_fast, 0.03 * of_fast);
  EXPECT_NEAR(last_s({{slow, 3}}), 2 * of_fast, 1e-9 * of_fast);
}

}  // namespace
}  // namespace windtunnel
