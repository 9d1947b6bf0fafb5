#include "validate/harness/execute/run_clock.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <limits>

#include "models/base/error.hpp"

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

double LinkClocks::send(std::span<const LinkId> route, double units, double at_s) const {
  double end_s = at_s;
  for (const LinkId link : route) {
    const double capacity = links_.capacity(link);
    if (!(capacity > 0)) {
      throw Error(
          fmt::format("the plan sends data over '{}', which has no bandwidth", links_.name(link)));
    }
    Bucket& bucket = buckets_[link];
    double free_s = bucket.load();
    double until_s = 0;
    do {
      until_s = std::max(free_s, at_s) + units / capacity;
    } while (!bucket.compare_exchange_weak(free_s, until_s));
    end_s = std::max(end_s, until_s);
  }
  return end_s;
}

double LinkClocks::least_capacity(std::span<const LinkId> route) const {
  double least = std::numeric_limits<double>::infinity();
  for (const LinkId link : route) least = std::min(least, links_.capacity(link));
  return least;
}

std::vector<LinkId> LinkClocks::route(int source_gpu, int destination_gpu) const {
  std::vector<LinkId> links;
  const Cluster& cluster = links_.cluster();
  if (!between_nodes_ && cluster.node_of(source_gpu) != cluster.node_of(destination_gpu)) {
    return links;
  }
  links_.append_route(source_gpu, destination_gpu, links);
  return links;
}

std::vector<LinkId> LinkClocks::resource(int gpu, Resource resource, int weight) const {
  std::vector<LinkId> links;
  for (int k = 0; k < weight; ++k) links_.append_resource(gpu, resource, links);
  return links;
}

}  // namespace windtunnel
