// The clock of an execution: seconds of the scenario, read off this machine's. All ranks have the
// same, since they are processes of one machine.
#pragma once

#include <atomic>
#include <cstdint>

namespace windtunnel {

// The law by which a Plan shrinks to a machine: what takes T seconds in the scenario takes
// T / times for real, and of B bytes B / bytes are carried. A link of R bytes per second is then
// one of R * times / bytes: all that takes time shrinks alike, so the order of events stays. Below
// 1 they stretch.
struct ExecutionScale {
  double times = 1;
  double bytes = 1;
};

class RunClock {
 public:
  // `spins`: the last moments of a wait are spent awake, by who has a core of its own.
  // `sleeps_until_ns`: the latest time that was slept until, for those that watch; none: null.
  RunClock(std::int64_t start_ns, double times, bool spins,
           std::atomic<std::int64_t>* sleeps_until_ns = nullptr)
      : start_ns_(start_ns), times_(times), spins_(spins), sleeps_until_ns_(sleeps_until_ns) {}

  double now_s() const;  // of the scenario, since the start
  void sleep_until(double scenario_s) const;
  std::int64_t real_ns(double scenario_s) const;  // on CLOCK_MONOTONIC

  static std::int64_t monotonic_ns();

 private:
  std::int64_t start_ns_;
  double times_;
  bool spins_;
  std::atomic<std::int64_t>* sleeps_until_ns_;
};

// Threads that start after this, in this process, wake within microseconds of when they asked.
void wake_exactly();

}  // namespace windtunnel
