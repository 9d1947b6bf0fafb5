#include "validate/harness/timing/measure.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

#include "models/base/error.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

// The test sets this device's timings; it runs nothing.
struct FakeMachine {
  double second_s = 1e-4;  // per run
  double clock_Hz = 1e9;
  double clock_step_Hz = 0;  // per reading, until `settles`
  int readings = 0;
  int settles = 1000000;
  int timings = 0;
  // Returns whether other processes run at the same time, after this many timings.
  std::function<bool(int)> disturbed = [](int) { return false; };
  std::function<double(int)> slower = [](int) { return 1.0; };  // factor on that timing
};
FakeMachine machine;

Device fake_device() {
  Device fake = device(DeviceKind::cpu);
  fake.kind = DeviceKind::cuda;  // a CPU's clock is not read
  fake.describe = [] {
    DeviceDescription description;
    description.name = "fake";
    return description;
  };
  fake.readings = [] {
    DeviceReadings now;
    if (++machine.readings < machine.settles) machine.clock_Hz += machine.clock_step_Hz;
    now.clock_Hz = machine.clock_Hz;
    return now;
  };
  fake.disturbed = [] { return machine.disturbed(machine.timings); };
  fake.time_s = [](const std::function<void()>& work, int times) {
    for (int i = 0; i < std::min(times, 3); ++i) work();
    return machine.second_s * times * machine.slower(machine.timings++);
  };
  return fake;
}

std::vector<TimedWork> copies(int count, CacheState cache = CacheState::warm) {
  std::vector<TimedWork> works;
  for (int i = 0; i < count; ++i) {
    TimedWork work;
    work.steps = parse_kernel_steps("copy bytes=" + std::to_string(1 << i));
    work.cache = cache;
    work.prepare = [] { return [] {}; };
    works.push_back(work);
  }
  return works;
}

struct Outcome {
  std::vector<Sample> samples;
  MeasureProgress progress;
  std::vector<double> exceeded_s;
};

Outcome measured(
    const std::vector<TimedWork>& works, const MeasureOptions& options = {},
    std::function<bool()> stopped = [] { return false; }) {
  Outcome outcome;
  MeasureEvents events;
  events.measured = [&](const Sample& sample) { outcome.samples.push_back(sample); };
  events.stopped = std::move(stopped);
  events.exceeds = [&](double least_s) { outcome.exceeded_s.push_back(least_s); };
  const Device fake = fake_device();
  Team team(fake);
  outcome.progress = measure(works, team, options, events);
  return outcome;
}

class Measure : public ::testing::Test {
 protected:
  void SetUp() override { machine = {}; }
};

TEST_F(Measure, EveryWorkOnceAndTheFirstAgainAtTheEnd) {
  const Outcome outcome = measured(copies(20));
  ASSERT_EQ(outcome.samples.size(), 21U);
  std::map<std::string, int> seen;
  for (const Sample& sample : outcome.samples) {
    ++seen[to_text(sample.work)];
    EXPECT_DOUBLE_EQ(sample.median_s, machine.second_s);
    EXPECT_GE(sample.repeats, 30);
    EXPECT_EQ(sample.device, "fake");
  }
  EXPECT_EQ(seen.size(), 20U);
  EXPECT_EQ(outcome.samples.back().role, SampleRole::again);
  EXPECT_EQ(to_text(outcome.samples.back().work), to_text([&] {
              for (const Sample& sample : outcome.samples) {
                if (sample.order == 0) return sample.work;
              }
              return KernelSteps{};
            }()));
}

TEST_F(Measure, TheOrderIsRandomAndTheSeedsOwn) {
  const auto order = [](std::uint64_t seed) {
    std::vector<std::string> texts;
    for (const Sample& sample : measured(copies(20), {.seed = seed}).samples) {
      texts.push_back(to_text(sample.work));
    }
    return texts;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST_F(Measure, ShortWorksAreRepeatedInsideATiming) {
  machine.second_s = 1e-7;
  const Outcome outcome = measured(copies(1));
  EXPECT_DOUBLE_EQ(outcome.samples[0].median_s, 1e-7);
}

TEST_F(Measure, LongWorksAreTimedLessOftenThanTheBudgetWouldBear) {
  const auto repeats = [](double second_s, double budget_s) {
    machine = {.second_s = second_s};
    return measured(copies(1), {.budget_s = budget_s, .half_width = 1, .least = 1})
        .samples[0]
        .repeats;
  };
  // Two series share the budget: the work, and its repetition.
  EXPECT_EQ(repeats(1, 1000), 10);
  EXPECT_EQ(repeats(1, 14), 7);
  EXPECT_EQ(repeats(1, 1), 5);
}

TEST_F(Measure, BlocksBesideAMovingClockAreThrownAway) {
  machine.clock_step_Hz = 5e7;
  machine.settles = 4;
  const Outcome outcome = measured(copies(1));
  EXPECT_GE(outcome.progress.tainted, 1);
  EXPECT_FALSE(outcome.samples[0].after.throttled);
}

TEST_F(Measure, ASeriesThatNeverGetsACleanBlockSaysSo) {
  machine.clock_step_Hz = 5e7;
  const Outcome outcome = measured(copies(1));
  EXPECT_TRUE(outcome.samples[0].after.throttled);
}

// Other processes come during a fifth of the timings and stay until the next timing has begun, so
// that both are slow.
TEST_F(Measure, TimingsBesideOthersDoNotCount) {
  machine.disturbed = [](int timings) { return timings % 5 == 0; };
  machine.slower = [](int timing) { return timing % 5 == 0 || timing % 5 == 4 ? 5.0 : 1.0; };
  const Outcome outcome = measured(copies(3), {.half_width = 1});
  ASSERT_EQ(outcome.samples.size(), 4U);
  for (const Sample& sample : outcome.samples) {
    EXPECT_DOUBLE_EQ(sample.p95_s, 1e-4);
    EXPECT_EQ(sample.disturbed, 0);
    EXPECT_FALSE(sample.after.throttled);
  }
  EXPECT_GT(outcome.progress.disturbed, outcome.progress.timings / 3);
}

// If a timing lasts longer than other processes stay, it does not show what they do within it.
TEST_F(Measure, LongTimingsNeedADeviceThatIsHardlyDisturbed) {
  for (const int apart : {4, 70}) {
    machine = {.second_s = 0.1};
    machine.disturbed = [apart](int timings) { return timings % apart == 0; };
    const Outcome outcome = measured(copies(1), {.half_width = 1, .least = 60, .most = 60});
    for (const Sample& sample : outcome.samples) EXPECT_EQ(sample.disturbed > 0, apart == 4);
  }
}

// Timings without other processes show how long the work takes. If all timings are alike, other
// processes come and go during each.
TEST_F(Measure, OthersThatStayForManyTimingsAreToldFromThoseThatComeAndGo) {
  for (const double longer : {1.3, 1.0}) {
    machine = {.second_s = 0.1};
    machine.disturbed = [](int timings) { return timings / 10 % 2 == 0; };
    machine.slower = [longer](int timing) { return timing / 10 % 2 == 0 ? longer : 1.0; };
    const Outcome outcome = measured(copies(1), {.half_width = 1, .least = 60, .most = 60});
    for (const Sample& sample : outcome.samples) {
      EXPECT_NEAR(sample.disturbed, longer > 1 ? 0 : 0.5, 0.1);
      EXPECT_DOUBLE_EQ(sample.median_s, 0.1);
    }
  }
}

// Other processes stay during the first of two groups, whose works are measured again at the end.
TEST_F(Measure, WhatOthersDisturbedComesAgainAtTheEnd) {
  constexpr int kWorks = 6;
  // Each work has thirty timings in three blocks, with a first run before each block, and a second
  // one before the first block.
  constexpr int kStay = (30 + 3 + 1) * kWorks / 2;
  machine.disturbed = [](int timings) { return timings < kStay; };
  MeasureOptions options{.least = 20, .most = 30, .together = kWorks / 2};
  const Outcome outcome = measured(copies(kWorks), options);
  ASSERT_EQ(outcome.samples.size(), kWorks + 1U);
  for (const Sample& sample : outcome.samples) EXPECT_EQ(sample.disturbed, 0);
  for (int i = 0; i < kWorks / 2; ++i) {
    EXPECT_GE(outcome.samples[std::size_t(i)].order, kWorks / 2);
    EXPECT_LT(outcome.samples[std::size_t(kWorks / 2 + i)].order, kWorks / 2);
  }
}

TEST_F(Measure, ASeriesThatOthersNeverLeaveAloneSaysSo) {
  machine.disturbed = [](int) { return true; };
  const Outcome outcome = measured(copies(2), {.most = 40});
  ASSERT_EQ(outcome.samples.size(), 3U);
  for (const Sample& sample : outcome.samples) {
    EXPECT_EQ(sample.disturbed, 1);
    EXPECT_GE(sample.repeats, 40);
  }
}

TEST_F(Measure, StopsWhenAskedAndKeepsWhatIsDone) {
  int asked = 0;
  const Outcome outcome = measured(copies(20), {.together = 2}, [&] { return ++asked > 12; });
  EXPECT_GT(outcome.samples.size(), 0U);
  EXPECT_LT(outcome.samples.size(), 21U);
}

// Works take some time to prepare buffers, and belong to three tiers in turn.
std::vector<TimedWork> slow_works(int count) {
  std::vector<TimedWork> works;
  for (int i = 0; i < count; ++i) {
    TimedWork work;
    work.steps = parse_kernel_steps("copy bytes=" + std::to_string(i + 1));
    work.prepare = [] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return [] {};
    };
    work.tier = i % 3;
    works.push_back(work);
  }
  return works;
}

constexpr int kSlowWorks = 150;

// Each work has one block, in groups of ten.
MeasureOptions hurried(double budget_s) {
  return {.budget_s = budget_s, .half_width = 1, .least = 1, .together = 10};
}

std::map<int, int> tiers_measured(const Outcome& outcome) {
  std::map<int, int> tiers;
  for (const Sample& sample : outcome.samples) {
    const int place = static_cast<int>(sample.work[0][0].bytes) - 1;
    if (sample.role != SampleRole::again) ++tiers[place % 3];
  }
  return tiers;
}

TEST_F(Measure, ABudgetThatSufficesLeavesNothingOutAndTheOrderAsItIs) {
  const Outcome outcome = measured(slow_works(kSlowWorks), hurried(1000));
  std::vector<TimedWork> alike = slow_works(kSlowWorks);
  for (TimedWork& work : alike) work.tier = 0;
  const Outcome same = measured(alike, hurried(1e-3));
  ASSERT_EQ(outcome.samples.size(), kSlowWorks + 3U);
  ASSERT_EQ(same.samples.size(), outcome.samples.size());
  for (size_t i = 0; i < outcome.samples.size(); ++i) {
    EXPECT_EQ(to_text(outcome.samples[i].work), to_text(same.samples[i].work));
    EXPECT_EQ(outcome.samples[i].order, double(i));
  }
  EXPECT_EQ(outcome.progress.left_out, 0);
  EXPECT_TRUE(outcome.exceeded_s.empty());
}

TEST_F(Measure, StoppedBeforeItBeginsNothingIsDone) {
  const Outcome outcome = measured(copies(5), {}, [] { return true; });
  EXPECT_TRUE(outcome.samples.empty());
  EXPECT_LT(outcome.progress.done, outcome.progress.works);
}

TEST_F(Measure, WithoutTheTimeForAllTheHighestTiersAreLeftOut) {
  const Outcome outcome = measured(slow_works(kSlowWorks), hurried(0.12));
  std::map<int, int> tiers = tiers_measured(outcome);
  EXPECT_EQ(tiers[0], kSlowWorks / 3);
  EXPECT_EQ(outcome.progress.done, outcome.progress.works);
  EXPECT_GT(outcome.progress.left_out, 0);
  EXPECT_EQ(tiers[0] + tiers[1] + tiers[2] + outcome.progress.left_out, kSlowWorks);
  EXPECT_GT(outcome.progress.enough_s, kSlowWorks * 1e-3);
}

// The time of the first group shows that the budget does not suffice, so that the group is measured
// whatever its tiers.
TEST_F(Measure, WithoutTheTimeForTheLeastThatIsMeasuredAndToldOnce) {
  const Outcome outcome = measured(slow_works(kSlowWorks), hurried(1e-3));
  std::map<int, int> tiers = tiers_measured(outcome);
  EXPECT_EQ(tiers[0], kSlowWorks / 3);
  EXPECT_LE(tiers[1] + tiers[2], 10);
  ASSERT_EQ(outcome.exceeded_s.size(), 1U);
  EXPECT_GT(outcome.exceeded_s[0], kSlowWorks / 3 * 1e-3);
  EXPECT_EQ(outcome.progress.done, outcome.progress.works);
}

TEST_F(Measure, WithoutTimeWhatOthersDisturbedDoesNotComeAgain) {
  machine.disturbed = [](int) { return true; };
  for (const double budget_s : {1000.0, 1e-6}) {
    int made = 0;
    std::vector<TimedWork> works = copies(3);
    for (TimedWork& work : works) {
      work.prepare = [&made] {
        ++made;
        return [] {};
      };
    }
    MeasureOptions options = hurried(budget_s);
    options.most = 5;
    const Outcome outcome = measured(works, options);
    EXPECT_EQ(outcome.samples.size(), 4U);
    for (const Sample& sample : outcome.samples) EXPECT_EQ(sample.disturbed, 1);
    EXPECT_EQ(made, budget_s > 1 ? 7 : 4);
  }
}

TEST_F(Measure, AFaultNamesTheWork) {
  std::vector<TimedWork> works = copies(1);
  works[0].prepare = []() -> std::function<void()> { throw Error("no memory"); };
  EXPECT_EQ(error_of([&] { measured(works); }, ExitCode::failed), "copy bytes=1: no memory");
}

}  // namespace
}  // namespace windtunnel
