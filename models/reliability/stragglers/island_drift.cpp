#include "models/reliability/stragglers/island_drift.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "models/reliability/stragglers/worker_factors.hpp"

namespace windtunnel {
namespace {

constexpr double kMostNumbers = 1 << 21;  // that are drawn step by step
constexpr int kLeastExchanges = 64;       // of the outermost level
constexpr int kExchanges = 4096;          // of the innermost, at most

// Sum over all distances of the correlation of the slowest of `units` two-state chains: both are
// good together with the chance that all are.
double long_of_states(const Jitter& jitter, double units, double bad_share) {
  const double good = std::pow(1 - bad_share, units);
  if (good <= 0 || good >= 1) return 1;
  double sum = 1;
  for (int distance = 1; distance < 1'000'000; ++distance) {
    const double together =
        (1 - bad_share) * (1 - bad_share + bad_share * factor_correlation(jitter, distance));
    const double own = (std::pow(together, units) - good * good) / (good * (1 - good));
    sum += 2 * own;
    if (std::abs(own) < 1e-9) break;
  }
  return sum;
}

// What an island takes for its steps up to the next exchange.
class Periods {
 public:
  Periods(const Jitter& jitter, int units, int islands, int steps, bool by_step)
      : steps_(steps),
        step_(island_step(jitter, units)),
        random_(jitter.seed, RandomPurpose::kernel_jitter, ~std::uint64_t{0}) {
    if (by_step) factors_.emplace(jitter, alike_workers(islands, units));
    sums_.resize(islands);
  }
  const std::vector<double>& next() {
    if (!factors_) {
      const double deviation = std::sqrt(steps_ * step_.long_variance);
      for (double& sum : sums_) sum = steps_ * step_.mean + deviation * random_.normal();
      return sums_;
    }
    std::ranges::fill(sums_, 0);
    for (int step = 0; step < steps_; ++step) {
      const std::span<const double> own = factors_->next_round();
      for (std::size_t island = 0; island < sums_.size(); ++island) sums_[island] += own[island];
    }
    return sums_;
  }

 private:
  int steps_;
  IslandStep step_;
  RandomStream random_;
  std::optional<WorkerFactors> factors_;
  std::vector<double> sums_;
};

// The islands of a group of one level, which are so many groups of the level below.
void exchange(std::span<double> clocks, const DriftLevel& level, double slack, double& wait,
              double& given_up) {
  const std::size_t below = clocks.size() / level.groups;
  std::vector<double> arrivals;
  for (int group = 0; group < level.groups; ++group) {
    arrivals.push_back(std::ranges::max(clocks.subspan(group * below, below)));
  }
  const auto last = arrivals.end() - 1 - level.missing;
  std::ranges::nth_element(arrivals, last);
  for (double& clock : clocks) {
    if (level.missing > 0) given_up += std::max(0.0, clock - *last);
    wait += std::max(0.0, *last - slack - clock);
    clock = std::max(level.missing > 0 ? std::min(clock, *last) : clock, *last - slack);
  }
}

}  // namespace

IslandStep island_step(const Jitter& jitter, double units) {
  if (!jitter.active()) return {};
  const Moments slowest = slowest_moments(jitter, units);
  const double memory = factor_correlation(jitter, 1);
  const bool states = jitter.sigma == 0 && jitter.exponential == 0 && jitter.pareto == 0;
  double longer = 1;
  if (states && jitter.bursts.good > 0) {
    const double bad = jitter.bursts.bad / (jitter.bursts.good + jitter.bursts.bad);
    longer = long_of_states(jitter, units, bad);
  } else if (memory < 1) {
    longer = (1 + memory) / (1 - memory);
  }
  return {slowest.mean, slowest.variance, slowest.variance * longer};
}

IslandDrift expected_drift(const Jitter& jitter, double units, const DriftLevel& level) {
  const IslandStep step = island_step(jitter, units);
  const double deviation = std::sqrt(level.steps * step.long_variance);
  IslandDrift drift{.step = step.mean};
  // Of an island that is waited for and of one that gives up alike: the mean is that of all.
  drift.wait = {deviation * expected_normal_order(level.groups, level.groups - level.missing)};
  return drift;
}

IslandDrift sample_drift(const Jitter& jitter, int units, const std::vector<DriftLevel>& levels) {
  IslandDrift drift{.step = island_step(jitter, units).mean};
  drift.wait.assign(levels.size(), 0);
  drift.given_up.assign(levels.size(), 0);
  int islands = 1;
  for (const DriftLevel& level : levels) islands *= level.groups;
  const int steps = std::max(1, static_cast<int>(std::lround(levels.front().steps)));
  std::vector<int> every;  // [level] exchanges of the innermost
  for (const DriftLevel& level : levels) {
    every.push_back(std::max(1, static_cast<int>(std::lround(level.steps / steps))));
  }
  const double numbers = double(steps) * islands * units;
  const double least = double(kLeastExchanges) * every.back();
  const bool by_step = numbers * least <= kMostNumbers;
  const int count = static_cast<int>(
      by_step ? std::clamp(kMostNumbers / numbers, least, std::max(least, double(kExchanges)))
              : std::max(least, double(kExchanges)));
  Periods periods(jitter, units, islands, steps, by_step);
  std::vector<double> clocks(islands, 0);
  std::vector<int> done(levels.size());
  for (int period = 1; period <= count; ++period) {
    const std::vector<double>& own = periods.next();
    for (int island = 0; island < islands; ++island) clocks[island] += own[island];
    int below = 1;  // islands of a group of the level
    for (std::size_t l = 0; l < levels.size(); ++l) {
      below *= levels[l].groups;
      if (period % every[l] != 0) continue;
      ++done[l];
      for (int first = 0; first < islands; first += below) {
        exchange(std::span(clocks).subspan(first, below), levels[l], levels[l].slack * drift.step,
                 drift.wait[l], drift.given_up[l]);
      }
    }
  }
  for (std::size_t l = 0; l < levels.size(); ++l) {
    drift.wait[l] /= double(done[l]) * islands;
    drift.given_up[l] /= double(done[l]) * islands;
  }
  return drift;
}

}  // namespace windtunnel
