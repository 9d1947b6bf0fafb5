#include "validate/harness/timing/team.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "models/base/error.hpp"
#include "validate/harness/ranks/group_devices.hpp"
#include "validate/harness/timing/measure.hpp"

namespace windtunnel {
namespace {

constexpr int kRanks = 3;

// Records the calls of a rank's device functions in this process.
struct Calls {
  std::string text;
  double run_s = 1e-4;  // per run
  double clock_Hz = 1e9;
  double clock_step_Hz = 0;  // per reading
  bool disturbed = false;
};
Calls calls;

Device noting_device() {
  Device noting = device(DeviceKind::cpu);
  noting.kind = DeviceKind::cuda;  // a CPU's clock is not read
  noting.readings = [] {
    DeviceReadings now;
    now.clock_Hz = calls.clock_Hz += calls.clock_step_Hz;
    return now;
  };
  noting.disturbed = [] { return calls.disturbed; };
  noting.time_s = [](const std::function<void()>& work, int times) {
    calls.text += fmt::format("{}", times);
    for (int i = 0; i < times; ++i) work();
    return calls.run_s * times;
  };
  return noting;
}

std::vector<TimedWork> works(int count, CacheState cache = CacheState::warm) {
  std::vector<TimedWork> made;
  for (int i = 0; i < count; ++i) {
    TimedWork work;
    work.steps = parse_kernel_steps("copy bytes=" + std::to_string(64 * (i + 1)));
    work.cache = cache;
    work.prepare = [i] {
      calls.text += fmt::format("<{}:", i);
      return [] { calls.text += "."; };
    };
    made.push_back(work);
  }
  return made;
}

struct TeamOutcome {
  std::vector<Sample> samples;
  MeasureProgress progress;
};

TeamOutcome team_measured(
    std::span<const TimedWork> works, Team& team, const MeasureOptions& options = {},
    std::function<bool()> stopped = [] { return false; }) {
  TeamOutcome outcome;
  MeasureEvents events;
  events.measured = [&](const Sample& sample) { outcome.samples.push_back(sample); };
  events.stopped = std::move(stopped);
  outcome.progress = measure(works, team, options, events);
  return outcome;
}

// Rank 0 leads and then calls `check`; all others follow.
void run_team(
    const std::vector<TimedWork>& of_ranks, const std::function<void(Team&)>& lead,
    const std::function<void(TcpGroup&)>& check = [](TcpGroup&) {}) {
  const Device noting = noting_device();
  run_ranks(kRanks, [&](TcpGroup& group) {
    calls = {};
    calls.run_s *= group.rank() + 1;
    if (group.rank() == 0) {
      Team team(noting, &group);
      lead(team);
    } else {
      follow(of_ranks, noting, group);
    }
    check(group);
  });
}

TEST(Team, AllRanksMakeTheSameCallsInTheSameOrder) {
  std::vector<TimedWork> of_ranks = works(10);
  for (const TimedWork& cold : works(3, CacheState::cold)) of_ranks.push_back(cold);
  run_team(
      of_ranks, [&](Team& team) { team_measured(of_ranks, team, {.together = 3}); },
      [](TcpGroup& group) {
        const std::vector<std::string> told = told_by_all(group, calls.text);
        for (const std::string& other : told) {
          if (other != told[0]) throw Error("other calls: " + other + "\nof rank 0: " + told[0]);
        }
        for (const char* call : {"1.1.", "<9:"}) {
          if (told[0].find(call) == std::string::npos) throw Error("no call " + std::string(call));
        }
      });
}

TEST(Team, ATimingIsThatOfTheSlowestRank) {
  run_team(works(4), [&](Team& team) {
    const TeamOutcome outcome = team_measured(works(4), team);
    EXPECT_EQ(outcome.samples.size(), 5U);
    for (const Sample& sample : outcome.samples) {
      EXPECT_DOUBLE_EQ(sample.median_s, kRanks * 1e-4);
      EXPECT_EQ(sample.ranks, kRanks);
    }
  });
}

TEST(Team, ABlockIsThrownAwayWhereverADeviceWasDisturbed) {
  const Device noting = noting_device();
  run_ranks(kRanks, [&](TcpGroup& group) {
    calls = {};
    if (group.rank() == kRanks - 1) calls.clock_step_Hz = 5e7;
    if (group.rank() > 0) return follow(works(1), noting, group);
    Team team(noting, &group);
    const TeamOutcome outcome = team_measured(works(1), team);
    EXPECT_GE(outcome.progress.tainted, 1);
    for (const Sample& sample : outcome.samples) EXPECT_TRUE(sample.after.throttled);
  });
}

TEST(Team, ATimingIsDisturbedWhereverOthersTakeFromADevice) {
  const Device noting = noting_device();
  run_ranks(kRanks, [&](TcpGroup& group) {
    calls = {};
    calls.disturbed = group.rank() == 1;
    if (group.rank() > 0) return follow(works(1), noting, group);
    Team team(noting, &group);
    team.prepare(works(1)[0]);
    if (!team.time(1).disturbed) throw Error("rank 1's others took nothing");
  });
}

std::string fault_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Team, AFailingRankIsTold) {
  for (int culprit = 0; culprit < kRanks; ++culprit) {
    const std::string fault = fault_of([&] {
      const Device noting = noting_device();
      run_ranks(kRanks, [&](TcpGroup& group) {
        std::vector<TimedWork> own = works(2);
        own[1].prepare = [&]() -> std::function<void()> {
          if (group.rank() == culprit) throw Error("no memory");
          return [] {};
        };
        if (group.rank() > 0) return follow(own, noting, group);
        Team team(noting, &group);
        team_measured(own, team);
      });
    });
    const std::string who =
        culprit == 0 ? "copy bytes=128: " : "rank " + std::to_string(culprit) + ": ";
    EXPECT_EQ(fault, who + "no memory");
  }
}

TEST(Team, ARankThatFailsOrDiesInACollectiveEndsAll) {
  for (const bool dies : {false, true}) {
    const std::string fault = fault_of([&] {
      const Device noting = noting_device();
      run_ranks(kRanks, [&](TcpGroup& group) {
        int runs = 0;
        std::vector<TimedWork> own = works(1);
        own[0].prepare = [&]() -> std::function<void()> {
          return [&] {
            if (group.rank() == 1 && ++runs == 7) {
              if (dies) std::raise(SIGKILL);
              throw Error("out of cheese");
            }
            group.barrier();
          };
        };
        if (group.rank() > 0) return follow(own, noting, group);
        Team team(noting, &group);
        team_measured(own, team);
      });
    });
    EXPECT_EQ(fault, dies ? "rank 1: ended by signal 9" : "rank 1: out of cheese");
  }
}

TEST(Team, RanksWithOtherWorksAreRefused) {
  const std::string fault =
      fault_of([] { run_team(works(2), [](Team& team) { team_measured(works(3), team); }); });
  EXPECT_NE(fault.find("copy bytes=192"), std::string::npos) << fault;
}

volatile std::sig_atomic_t asked = 0;

// A terminal interrupts all processes at once: here the other ranks at every run, and rank 0 at a
// late one.
TEST(Team, WhenAllAreInterruptedRankZeroDecides) {
  struct sigaction handle = {};
  struct sigaction before = {};
  handle.sa_handler = [](int) { asked = 1; };
  sigaction(SIGINT, &handle, &before);
  const Device noting = noting_device();
  EXPECT_EQ(fault_of([&] {
              run_ranks(kRanks, [&](TcpGroup& group) {
                int runs = 0;
                std::vector<TimedWork> own = works(50);
                for (TimedWork& work : own) {
                  work.prepare = [&]() -> std::function<void()> {
                    return [&] {
                      if (group.rank() > 0 || ++runs == 500) std::raise(SIGINT);
                    };
                  };
                }
                if (group.rank() > 0) {
                  follow(own, noting, group);
                  std::raise(SIGTERM);  // ignored, too
                  return;
                }
                Team team(noting, &group);
                const TeamOutcome outcome =
                    team_measured(own, team, {.together = 1}, [] { return asked != 0; });
                EXPECT_GT(outcome.samples.size(), 0U);
                EXPECT_LT(outcome.samples.size(), 50U);
              });
            }),
            "");
  EXPECT_EQ(asked, 1);
  sigaction(SIGINT, &before, nullptr);
}

TEST(Team, OneRankTellsNobody) {
  calls = {};
  const Device noting = noting_device();
  Team team(noting);
  const TeamOutcome outcome = team_measured(works(3), team);
  EXPECT_EQ(outcome.samples.size(), 4U);
  EXPECT_EQ(outcome.samples[0].ranks, 1);
}

}  // namespace
}  // namespace windtunnel
