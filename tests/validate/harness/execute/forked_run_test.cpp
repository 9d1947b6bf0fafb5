#include "validate/harness/execute/forked_run.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/support/error_of.hpp"
#include "tests/validate/harness/execute/run_processes.hpp"
#include "validate/harness/execute/run_clock.hpp"
#include "validate/harness/ranks/tcp_group.hpp"

namespace windtunnel {
namespace {

// Expects that no child process is left, not even one to wait for.
void expect_nothing_left() {
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

void live_until_all_are_through(const ForkedProcess& process) {
  process.wait_for_start();
  while (!process.all_through(true)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

[[noreturn]] void live_on(const ForkedProcess& process) {
  for (;;) {
    process.all_through(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// Silence of a living process is far shorter than this, even on a busy machine.
const WatchRules kPatient = {.silence_s = 30};

std::string fault_of(const std::function<void(int index, const ForkedProcess& process)>& body,
                     const WatchRules& rules = kPatient) {
  const auto begin = RunClock::monotonic_ns();
  const std::string fault = error_of([&] { run_forked(3, "rank", body, rules); }, ExitCode::failed);
  EXPECT_LT(RunClock::monotonic_ns() - begin, 60'000'000'000);
  expect_nothing_left();
  return fault;
}

TEST(ForkedRun, EndsWhenAllAreThrough) {
  run_forked(4, "rank",
             [](int, const ForkedProcess& process) { live_until_all_are_through(process); });
  expect_nothing_left();
}

TEST(ForkedRun, NamesTheProcessThatDies) {
  EXPECT_EQ(fault_of([](int index, const ForkedProcess& process) {
              process.wait_for_start();
              if (index == 1) raise(SIGKILL);
              live_on(process);
            }),
            "rank 1 ended by signal 9");
}

TEST(ForkedRun, NamesTheProcessThatStops) {
  EXPECT_EQ(fault_of(
                [](int index, const ForkedProcess& process) {
                  process.wait_for_start();
                  if (index == 2) raise(SIGSTOP);
                  live_on(process);
                },
                {.silence_s = 2}),
            "rank 2 has stopped: it gave no sign for 2.0 s");
}

TEST(ForkedRun, NamesTheProcessThatDoesNotCome) {
  EXPECT_EQ(fault_of(
                [](int index, const ForkedProcess& process) {
                  if (index == 0) pause();
                  process.wait_for_start();
                },
                {.silence_s = 2}),
            "rank 0 did not start");
}

// Setup may take longer than the allowed silence.
TEST(ForkedRun, WaitsForAProcessThatSetsUp) {
  run_forked(2, "rank",
             [](int index, const ForkedProcess& process) {
               if (index == 0) {
                 const SignsOfLife signs(process);
                 std::this_thread::sleep_for(std::chrono::milliseconds(3000));
               }
               live_until_all_are_through(process);
             },
             {.silence_s = 2});
  expect_nothing_left();
}

// Setup may not take forever, even if the process gives signs of life.
TEST(ForkedRun, NamesTheProcessThatSetsUpForTooLong) {
  EXPECT_EQ(fault_of(
                [](int index, const ForkedProcess& process) {
                  const SignsOfLife signs(process);
                  if (index == 1) pause();
                  process.wait_for_start();
                },
                {.silence_s = 30, .setup_s = 1}),
            "rank 1 is not ready: it is still setting up after 1 s");
}

// Time in which the watcher itself does not run does not count as silence.
TEST(ForkedRun, APauseOfTheWatcherIsNoSilence) {
  Runner runner([] {
    const pid_t watcher = getpid();
    run_forked(1, "rank",
               [watcher](int, const ForkedProcess& process) {
                 process.wait_for_start();
                 kill(watcher, SIGSTOP);
                 usleep(2'500'000);
                 kill(watcher, SIGCONT);
                 live_until_all_are_through(process);
               },
               {.silence_s = 2});
    return std::string("all are through");
  });
  EXPECT_EQ(runner.said(), "all are through");
  expect_nothing_left();
}

// All processes live, but none makes progress. A process that sleeps on purpose does not count as
// standing still before it wakes.
TEST(ForkedRun, TellsAStandstill) {
  const auto begin = RunClock::monotonic_ns();
  const auto body = [begin](int index, const ForkedProcess& process) {
    if (index == 1) *process.sleeps_until_ns() = begin + 600'000'000;
    process.wait_for_start();
    process.step();
    live_on(process);
  };
  const std::string fault = error_of(
      [&] {
        run_forked(2, "rank", body, {.silence_s = 30, .standstill_s = 0.5, .where = [] {
                                       return std::string("rank 0 is in 'F0'");
                                     }});
      },
      ExitCode::failed);
  EXPECT_EQ(fault, "no rank has made progress for 0.5 s: rank 0 is in 'F0'");
  EXPECT_GT(RunClock::monotonic_ns() - begin, 1'100'000'000);
  expect_nothing_left();
}

// Reports of lost connections by the other processes follow from the first fault.
TEST(ForkedRun, TellsTheFaultThatTheOthersFollowFrom) {
  EXPECT_EQ(fault_of([](int index, const ForkedProcess& process) {
              process.wait_for_start();
              if (index != 2) throw ConnectionLost("lost", ExitCode::failed);
              std::this_thread::sleep_for(std::chrono::milliseconds(50));
              throw Error("the disk is full", ExitCode::failed);
            }),
            "rank 2: the disk is full");
}

TEST(SharedMemory, IsOneForAllProcesses) {
  const SharedMemory memory(16);
  run_forked(2, "rank", [&](int index, const ForkedProcess& process) {
    memory.data()[index] = std::byte{7};
    live_until_all_are_through(process);
  });
  EXPECT_EQ(memory.data()[0], std::byte{7});
  EXPECT_EQ(memory.data()[1], std::byte{7});
  EXPECT_EQ(memory.data()[2], std::byte{0});
}

}  // namespace
}  // namespace windtunnel
