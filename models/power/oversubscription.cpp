#include "models/power/oversubscription.hpp"

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// The sum of independent servers exceeds its mean by this many standard deviations less than once
// in 1,000 times.
constexpr double kRareDeviations = 3.09;
constexpr int kSteps = 400;   // of an integral over the normal law
constexpr double kReach = 6;  // the law is integrated to this many standard deviations

// The clock at which servers that ask for `asked_W` draw `given_W`; 0: none is low enough.
double clock_for(const RowLoad& load, double asked_W, double given_W) {
  if (asked_W <= given_W) return 1;
  if (given_W <= load.base_W) return 0;
  return std::pow((given_W - load.base_W) / (asked_W - load.base_W), 1 / load.clock_power);
}

double slowed(const LoadPhase& phase, double clock) {
  return phase.by_clock / clock + 1 - phase.by_clock;
}

void lower(RowReport& report, double clock, double share, double slowdown) {
  report.clock = std::min(report.clock, clock);
  report.holds = report.holds && clock > 0;
  report.capped_share += share;
  if (clock > 0) report.slowdown += share * (slowdown - 1);
}

void add_aligned(const RowLoad& load, double given_W, RowReport& report) {
  for (const LoadPhase& phase : load.phases) {
    const double clock = clock_for(load, phase.W, given_W);
    if (clock < 1) lower(report, clock, phase.share, clock > 0 ? slowed(phase, clock) : 1);
  }
}

struct Moments {
  double mean_W = 0;
  double deviation_W = 0;
  double by_clock = 0;
};

Moments moments_of(const RowLoad& load) {
  Moments moments;
  double square = 0;
  for (const LoadPhase& phase : load.phases) {
    moments.mean_W += phase.share * phase.W;
    square += phase.share * phase.W * phase.W;
    moments.by_clock += phase.share * phase.by_clock;
  }
  moments.deviation_W = std::sqrt(std::max(0.0, square - moments.mean_W * moments.mean_W));
  return moments;
}

// Adds the report of `servers`, averaged over the normal law of their total power.
void add_independent(const RowLoad& load, double servers, double given_W, RowReport& report) {
  const Moments moments = moments_of(load);
  const LoadPhase usual = {1, moments.mean_W, moments.by_clock};
  const double deviation_W = moments.deviation_W / std::sqrt(servers);
  double all = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double at = -kReach + 2 * kReach * (step + 0.5) / kSteps;
    all += std::exp(-at * at / 2);
  }
  for (int step = 0; step < kSteps; ++step) {
    const double at = -kReach + 2 * kReach * (step + 0.5) / kSteps;
    const double clock = clock_for(load, moments.mean_W + at * deviation_W, given_W);
    if (clock == 1) continue;
    const double share = std::exp(-at * at / 2) / all;
    const double lowest = report.clock;
    lower(report, clock, share, clock > 0 ? slowed(usual, clock) : 1);
    if (at > kRareDeviations) report.clock = lowest;
  }
}

// Average power of a server in a row of `servers` servers: its highest value, or the one that is
// exceeded in 1 / 1,000 of the time.
double peak_of(const RowLoad& load, double servers) {
  if (load.aligned) return std::ranges::max(load.phases, {}, &LoadPhase::W).W;
  const Moments moments = moments_of(load);
  return moments.mean_W + kRareDeviations * moments.deviation_W / std::sqrt(servers);
}

}  // namespace

RowReport oversubscribed(const RowLoad& load, int planned, double more) {
  CHECK(planned > 0 && more >= 0 && !load.phases.empty(), "{} servers and {} more", planned, more);
  CHECK(load.limit_W > load.base_W, "a limit of {} W over {} W", load.limit_W, load.base_W);
  RowReport report;
  report.peak = peak_of(load, planned) / load.limit_W;
  report.fitting = 1 / report.peak;
  // The peak per server falls with the number of independent servers.
  for (int i = 0; i < 30 && !load.aligned; ++i) {
    report.fitting = load.limit_W / peak_of(load, planned * report.fitting);
  }
  const double given_W = load.limit_W / (1 + more);
  if (load.aligned) {
    add_aligned(load, given_W, report);
  } else {
    add_independent(load, planned * (1 + more), given_W, report);
  }
  return report;
}

std::vector<LoadPhase> phases_of(const PowerCurve& curve, double nodes, double from_s,
                                 double to_s) {
  CHECK(to_s > from_s, "phases from {} s to {} s", from_s, to_s);
  std::vector<LoadPhase> phases;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double until_s = i + 1 < curve.size() ? curve[i + 1].at_s : to_s;
    const double span_s = std::min(until_s, to_s) - std::max(curve[i].at_s, from_s);
    if (span_s > 0) phases.push_back({span_s / (to_s - from_s), curve[i].W / nodes});
  }
  return phases;
}

}  // namespace windtunnel
