#include "validate/harness/execute/run_clock.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <cmath>
#include <ctime>

namespace windtunnel {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
// A virtual machine wakes a sleeping thread up to this late, so a clock that spins loops for the
// last 60 us.
constexpr std::int64_t kSpinNs = 60'000;

}  // namespace

std::int64_t RunClock::monotonic_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

double RunClock::now_s() const {
  return static_cast<double>(monotonic_ns() - start_ns_) * 1e-9 * times_;
}

std::int64_t RunClock::real_ns(double scenario_s) const {
  return start_ns_ + std::llround(scenario_s / times_ * 1e9);
}

void RunClock::sleep_until(double scenario_s) const {
  const std::int64_t until = real_ns(scenario_s);
  if (sleeps_until_ns_ != nullptr) {
    for (std::int64_t latest = *sleeps_until_ns_;
         latest < until && !sleeps_until_ns_->compare_exchange_weak(latest, until);) {
    }
  }
  const std::int64_t wake = until - (spins_ ? kSpinNs : 0);
  if (wake > monotonic_ns()) {
    const timespec at = {wake / kSecondNs, wake % kSecondNs};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
    }
  }
  while (monotonic_ns() < until) {
    if (!spins_) return;
  }
}

void wake_exactly() {
  prctl(PR_SET_TIMERSLACK, 1000UL);
}

}  // namespace windtunnel
