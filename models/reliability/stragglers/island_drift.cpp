#include "models/reliability/stragglers/island_drift.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "models/reliability/stragglers/straggler_rounds.hpp"
#include "models/reliability/stragglers/wait_rule.hpp"
#include "models/reliability/stragglers/worker_factors.hpp"

namespace windtunnel {
namespace {

constexpr double kMostNumbers = 1 << 21;  // numbers drawn step by step
constexpr int kLeastExchanges = 64;       // of the outermost level
constexpr int kExchanges = 4096;          // of the innermost, at most

// Sum, over all distances, of the correlation of the slowest of `units` two-state chains. It is
// good at two times if all chains are good at both.
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

// Durations of the islands' steps up to the next exchange.
class Periods {
 public:
  enum class By { steps, sums, machines };

  Periods(const Jitter& jitter, const IslandWorkers& island, const IslandStep& step, int islands,
          int steps, By by)
      : Periods(std::vector(islands, step), jitter.seed, steps, by) {
    jitter_ = jitter;
    island_ = island;
    for (int i = 0; i < islands; ++i) ends_.emplace_back(island_.within, jitter_, island_.workers);
    draw_machine();
  }
  // Islands with unlike steps.
  Periods(std::vector<IslandStep> islands, std::uint64_t seed, int steps, By by = By::sums)
      : steps_(steps),
        by_(by),
        islands_(std::move(islands)),
        random_(seed, RandomPurpose::kernel_jitter, ~std::uint64_t{0}),
        sums_(islands_.size()) {}
  // [island] valid until the next call.
  const std::vector<double>& next() {
    if (by_ == By::sums) {
      for (std::size_t island = 0; island < sums_.size(); ++island) {
        const IslandStep& own = islands_[island];
        const double deviation = std::sqrt(steps_ * own.long_variance);
        sums_[island] = steps_ * own.mean + deviation * random_.normal();
      }
      return sums_;
    }
    std::ranges::fill(sums_, 0);
    // If factors hold for the whole run of a machine, they are drawn once.
    const int draws = by_ == By::machines ? 1 : steps_;
    for (int draw = 0; draw < draws; ++draw) {
      const std::span<const double> own = factors_->next_round();
      for (std::size_t island = 0; island < sums_.size(); ++island) {
        const std::span<const double> times =
            own.subspan(island * island_.workers, island_.workers);
        sums_[island] += ends_[island].end_of(times) * steps_ / draws;
      }
    }
    return sums_;
  }
  void draw_machine() {
    if (by_ == By::sums) return;
    const int workers = static_cast<int>(sums_.size()) * island_.workers;
    factors_.emplace(jitter_, alike_workers(workers, island_.units), machine_++);
  }

 private:
  Jitter jitter_ = {};
  IslandWorkers island_ = {};
  int steps_;
  By by_;
  std::vector<IslandStep> islands_;
  RandomStream random_;
  std::optional<WorkerFactors> factors_;
  int machine_ = 0;
  std::vector<RoundEnds> ends_;  // [island]
  std::vector<double> sums_;
};

// Sums over the exchanges at a level.
struct ExchangeSums {
  double wait = 0;
  double late = 0;
  double saved = 0;
  int exchanges = 0;
};

void wait_until(double ready, std::span<double> clocks, ExchangeSums& sums) {
  for (double& clock : clocks) {
    sums.wait += std::max(0.0, ready - clock);
    clock = std::max(clock, ready);
  }
}

// Each group waits for the groups whose weights it gets.
void gossip(std::span<double> clocks, const std::vector<double>& arrivals, const DriftLevel& level,
            double slack, RandomStream& random, ExchangeSums& sums) {
  const GossipSenders& own = level.gossip;
  const std::size_t below = clocks.size() / arrivals.size();
  const std::size_t at_once = std::min<std::size_t>(own.at_once, own.distances.size());
  for (std::size_t group = 0; group < arrivals.size(); ++group) {
    double ready = arrivals[group];
    for (std::size_t turn = 0; turn < at_once; ++turn) {
      const std::size_t place = own.random
                                    ? random.below(own.distances.size())
                                    : (sums.exchanges * at_once + turn) % own.distances.size();
      const std::size_t sender = (group + own.distances[place]) % arrivals.size();
      ready = std::max(ready, arrivals[sender]);
    }
    wait_until(ready - slack, clocks.subspan(group * below, below), sums);
  }
}

// An exchange among the islands of a group of one level, which consists of groups of the level
// below. As in a campaign (sim/campaign/exchanges.cpp), it waits for optional members as long as
// that delays no one.
void exchange(std::span<double> clocks, const DriftLevel& level, double slack, RandomStream& random,
              ExchangeSums& sums) {
  const std::size_t below = clocks.size() / level.groups;
  std::vector<double> arrivals;
  for (int group = 0; group < level.groups; ++group) {
    arrivals.push_back(std::ranges::max(clocks.subspan(group * below, below)));
  }
  if (!level.gossip.distances.empty()) {
    gossip(clocks, arrivals, level, slack, random, sums);
    return;
  }
  const double last = end_of_wait({.missing = level.missing, .grace = slack}, arrivals);
  for (double& clock : clocks) {
    if (clock <= last) continue;
    sums.late += 1;
    sums.saved += clock - (last - slack);
    clock = last - slack;
  }
  wait_until(last - slack, clocks, sums);
}

// How exchanges are sampled, and how many at the innermost level. `outer` says how many of these
// lie between two exchanges at the outermost level.
struct Sampling {
  Periods::By by = Periods::By::steps;
  int periods = 0;
};

Sampling sampling_of(const Jitter& jitter, double units, int steps, int outer) {
  const double least = double(kLeastExchanges) * outer;
  const double most = std::max(least, double(kExchanges));
  if (jitter.per == JitterPer::run) {
    const double machines = std::clamp(kMostNumbers / units, double(kLeastExchanges), most);
    return {Periods::By::machines, static_cast<int>(machines) * outer};
  }
  const double numbers = units * steps;
  // Sums of factors without a variance never become normal, so they are sampled step by step, with
  // fewer exchanges.
  constexpr double kFew = 8;
  const bool has_variance = std::isfinite(factor_moments(jitter).variance);
  if (has_variance && numbers * least > kMostNumbers) {
    return {Periods::By::sums, static_cast<int>(most)};
  }
  const double fewest = has_variance ? least : kFew * outer;
  return {Periods::By::steps, static_cast<int>(std::clamp(kMostNumbers / numbers, fewest, most))};
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

IslandStep island_step(const Jitter& jitter, const IslandWorkers& island) {
  const double units = double(island.units) * island.workers;
  if (island.within.scheme == RedundancyScheme::none) return island_step(jitter, units);
  constexpr int kRounds = 4096;
  const StragglerRounds rounds =
      sample_rounds(island.within, jitter, alike_workers(island.workers, island.units), kRounds);
  // Means over many rounds are nearly independent, so the variance of one round follows from
  // theirs.
  double variance = 0;
  for (const double length : rounds.lengths) {
    variance += std::pow(length - rounds.length, 2) / (kRoundParts - 1);
  }
  variance *= double(kRounds) / kRoundParts;
  return {rounds.length, variance, variance};
}

namespace {

// Steps between two exchanges of the innermost level, and for each level how many of these
// exchanges lie between two of its own.
struct Turns {
  explicit Turns(const std::vector<DriftLevel>& levels)
      : steps(std::max(1, static_cast<int>(std::lround(levels.front().steps)))) {
    for (const DriftLevel& level : levels) {
      every.push_back(std::max(1, static_cast<int>(std::lround(level.steps / steps))));
      islands *= level.groups;
    }
  }
  int steps;
  int islands = 1;
  std::vector<int> every;  // [level]
};

IslandDrift drift_over(Periods& periods, const Sampling& sampling, double step_mean,
                       std::uint64_t seed, const std::vector<DriftLevel>& levels) {
  const Turns turns(levels);
  IslandDrift drift{.step = step_mean};
  RandomStream random(seed, RandomPurpose::wiring, 0);
  std::vector<double> clocks(turns.islands, 0);
  std::vector<ExchangeSums> sums(levels.size());
  for (int period = 1; period <= sampling.periods; ++period) {
    const std::vector<double>& own = periods.next();
    for (int island = 0; island < turns.islands; ++island) clocks[island] += own[island];
    int below = 1;  // islands of a group of the level
    for (std::size_t l = 0; l < levels.size(); ++l) {
      below *= levels[l].groups;
      if (period % turns.every[l] != 0) continue;
      for (int first = 0; first < turns.islands; first += below) {
        exchange(std::span(clocks).subspan(first, below), levels[l], levels[l].slack * drift.step,
                 random, sums[l]);
      }
      ++sums[l].exchanges;
    }
    if (sampling.by == Periods::By::machines && period % turns.every.back() == 0) {
      periods.draw_machine();
      std::ranges::fill(clocks, 0);
    }
  }
  for (const ExchangeSums& own : sums) {
    const double all = double(own.exchanges) * turns.islands;
    drift.wait.push_back(own.wait / all);
    drift.late.push_back(own.late / all);
    drift.saved.push_back(own.saved / all);
  }
  return drift;
}

}  // namespace

IslandDrift sample_drift(const Jitter& jitter, const IslandWorkers& island,
                         const std::vector<DriftLevel>& levels) {
  const Turns turns(levels);
  const double units = double(turns.islands) * island.workers * island.units;
  const Sampling sampling = sampling_of(jitter, units, turns.steps, turns.every.back());
  const IslandStep step = island_step(jitter, island);
  Periods periods(jitter, island, step, turns.islands, turns.steps, sampling.by);
  return drift_over(periods, sampling, step.mean, jitter.seed, levels);
}

IslandDrift sample_drift(const std::vector<IslandStep>& islands, std::uint64_t seed,
                         const std::vector<DriftLevel>& levels) {
  const Turns turns(levels);
  double mean = 0;
  for (const IslandStep& own : islands) mean += own.mean / static_cast<double>(islands.size());
  Periods periods(islands, seed, turns.steps);
  const int most = std::max(kExchanges, kLeastExchanges * turns.every.back());
  return drift_over(periods, {Periods::By::sums, most}, mean, seed, levels);
}

}  // namespace windtunnel
