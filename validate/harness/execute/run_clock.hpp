// The clock of an execution: seconds of the scenario, computed from this machine's clock. All ranks
// have the same clock, because they are processes of one machine.
#pragma once

#include <atomic>
#include <cstdint>

namespace windtunnel {

// How a Plan is scaled to a machine: T seconds of the scenario take T / times real seconds, and B
// bytes become B / bytes real bytes. A link of R bytes per second then becomes one of R * times /
// bytes. All durations scale alike, so the order of events does not change. Values below 1 stretch.
struct ExecutionScale {
  double times = 1;
  double bytes = 1;
};

class RunClock {
 public:
  // `spins`: the process has a core of its own, so the last moments of a wait are spent spinning.
  // `sleeps_until_ns` receives the latest time slept until, for the watcher; may be null.
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

// Makes threads of this process that start later wake within microseconds of the requested time.
void wake_exactly();

}  // namespace windtunnel
