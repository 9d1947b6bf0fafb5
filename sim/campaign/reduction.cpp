#include "sim/campaign/reduction.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "models/base/error.hpp"
#include "models/reliability/failure_traits.hpp"
#include "models/reliability/waiting_theory.hpp"
#include "policies/protection/snapshot_tiers.hpp"

namespace windtunnel {
namespace {

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

class Reduction {
 public:
  Reduction(const CampaignInputs& inputs, const std::vector<TrialResult>& results)
      : inputs_(inputs), results_(results) {}

  CampaignReport report() const {
    CampaignReport report;
    report.trials = static_cast<int>(results_.size());
    report.goodput = over([](const TrialResult& r) { return share(r.useful_s, r.wall_s); }, 1);
    for (const TrialResult& r : results_) {
      report.trial_goodput.push_back(share(r.useful_s, r.wall_s));
    }
    report.ettr = over(
        [](const TrialResult& r) {
          return share(r.useful_s, r.wall_s - r.lost_s[static_cast<int>(Loss::wait)]);
        },
        1);
    report.wall_s = over([](const TrialResult& r) { return r.wall_s; });
    report.useful_s = over([](const TrialResult& r) { return r.useful_s; });
    for (int loss = 0; loss < kLosses; ++loss) {
      report.lost_s[loss] = over([&](const TrialResult& r) { return r.lost_s[loss]; });
      report.lost[loss] =
          over([&](const TrialResult& r) { return share(r.lost_s[loss], r.wall_s); }, 1);
    }
    report.nodes_down =
        over([&](const TrialResult& r) { return r.node_down_s / inputs_.campaign.length_s; });
    for (int what = 0; what < kCampaignCounts; ++what) {
      report.counts[what] = over([&](const TrialResult& r) { return told(r, what); });
    }
    add_sizes(report);
    add_failures(report);
    add_tiers(report);
    add_ruled(report);
    add_unseen_wait(report);
    add_job(report);
    return report;
  }

 private:
  template <class Value>
  Estimate over(Value value, double most = std::numeric_limits<double>::infinity()) const {
    std::vector<double> samples;
    samples.reserve(results_.size());
    for (const TrialResult& result : results_) samples.push_back(value(result));
    return estimate(std::move(samples), most);
  }

  double told(const TrialResult& result, int what) const {
    constexpr double kPer_s = 90 * 86400.0;
    const auto count = static_cast<double>(result.counts[what]);
    const bool per_days = what == static_cast<int>(CampaignCount::islands_lost);
    return per_days ? count * kPer_s / inputs_.campaign.length_s : count;
  }

  void add_sizes(CampaignReport& report) const {
    report.size_error = inputs_.table.shrunk_gap;
    report.relaid = inputs_.table.relaid;
    report.most_out = static_cast<int>(inputs_.table.shrunk_iteration_s.size());
    for (int size = 0; size < kSizeClasses; ++size) {
      const Estimate of_time = over(
          [&](const TrialResult& r) {
            const double all_s =
                std::accumulate(std::begin(r.at_size_s), std::end(r.at_size_s), 0.0);
            return share(r.at_size_s[size], all_s);
          },
          1);
      if (of_time.mean > 0) report.sizes[size_class_name(size)] = of_time;
    }
    if (report.sizes.size() == 1 && report.sizes.contains(size_class_name(0))) {
      report.sizes.clear();
    }
  }

  // Counts the failures of classes for which `belongs` is true.
  template <class Belongs>
  Estimate count(Belongs belongs) const {
    return over([&](const TrialResult& result) {
      double sum = 0;
      for (std::size_t i = 0; i < inputs_.failures.size(); ++i) {
        if (belongs(inputs_.failures[i])) sum += static_cast<double>(result.failures[i]);
      }
      return sum;
    });
  }

  void add_failures(CampaignReport& report) const {
    for (const FailureClass& one : inputs_.failures) {
      report.failures[one.name] = count([&](const FailureClass& f) { return f.name == one.name; });
    }
    report.failures["planned"] =
        count([](const FailureClass& f) { return f.kind == FailureKind::planned; });
    report.failures["unexpected"] =
        count([](const FailureClass& f) { return traits_of(f.kind).unexpected; });
  }

  void add_tiers(CampaignReport& report) const {
    std::map<std::string, std::vector<std::size_t>> by_name;
    for (std::size_t tier = 0; tier < inputs_.table.tiers.size(); ++tier) {
      by_name[tier_name(inputs_.table.tiers[tier].tier)].push_back(tier);
    }
    for (const auto& [name, tiers] : by_name) {
      report.skipped_snapshots[name] = over([&tiers = tiers](const TrialResult& result) {
        double sum = 0;
        for (const std::size_t tier : tiers) {
          sum += static_cast<double>(result.skipped_snapshots[tier]);
        }
        return sum;
      });
    }
    by_name["none"].push_back(inputs_.table.tiers.size());
    if (inputs_.table.islands.has_islands()) {
      by_name["other islands"].push_back(inputs_.table.tiers.size() + 1);
    }
    for (const auto& [name, tiers] : by_name) {
      std::vector<double> shares;
      for (const TrialResult& result : results_) {
        const auto all = std::accumulate(result.restored_from.begin(), result.restored_from.end(),
                                         std::int64_t{0});
        if (all == 0) continue;
        std::int64_t sum = 0;
        for (const std::size_t tier : tiers) sum += result.restored_from[tier];
        shares.push_back(static_cast<double>(sum) / static_cast<double>(all));
      }
      if (!shares.empty()) report.survival[name] = estimate(std::move(shares), 1);
    }
  }

  void add_ruled(CampaignReport& report) const {
    for (std::size_t tier = 0; tier < inputs_.table.tiers.size(); ++tier) {
      RuledIntervals all;
      for (const TrialResult& result : results_) {
        if (result.ruled.empty()) continue;  // islands have no rules
        all.asked += result.ruled[tier].asked;
        all.snapshots += result.ruled[tier].snapshots;
        all.sum_s += result.ruled[tier].sum_s;
      }
      // If a tier never saved, its interval counts as long as the campaign.
      const bool never = all.asked > 0 && all.snapshots == 0;
      report.ruled_every_s.push_back(never ? results_.front().wall_s
                                           : share(all.sum_s, static_cast<double>(all.snapshots)));
    }
  }

  void add_job(CampaignReport& report) const {
    if (!(inputs_.tokens > 0)) return;
    CHECK(inputs_.tokens_per_iteration > 0, "{} tokens per iteration",
          inputs_.tokens_per_iteration);
    const double full_iterations = inputs_.tokens / inputs_.tokens_per_iteration;
    const double plain_s =
        full_iterations * run_step_s(inputs_.table.warmup, inputs_.table.iteration_s[0]);
    // Uses the mean goodput of all trials, because a training averages over good and bad times. The
    // result is infinite if the goodput may be zero.
    const Estimate& goodput = report.goodput;
    const auto at = [&](double share, double unit) {
      return share > 0 ? plain_s / share * unit : std::numeric_limits<double>::infinity();
    };
    const auto whole = [&](double unit) -> Estimate {
      return {at(goodput.mean, unit), at(goodput.high, unit), at(goodput.low, unit),
              at(goodput.p95, unit), at(goodput.p05, unit)};
    };
    report.job_days = whole(1 / 86400.0);
    report.job_cost_usd = whole(inputs_.price_usd_per_s);
  }

  // Whether there are failures that the theory does not cover: of links, of slow nodes, of nodes at
  // recorded times.
  bool waits_for_more() const {
    return std::ranges::any_of(inputs_.failures, [](const FailureClass& one) {
      return one.kind == FailureKind::network || one.kind == FailureKind::slow_node ||
             one.arrivals == Arrivals::trace;
    });
  }

  // In a few trials spares may never run out, and the spread of the trials then hides the waiting
  // for repairs. For a job that can only wait, theory gives the mean waiting time, and the
  // intervals are widened by its difference to the time that the trials waited.
  void add_unseen_wait(CampaignReport& report) const {
    const RecoveryPolicy& recovery = inputs_.recovery;
    if (recovery.when_no_spare != WhenNoSpare::wait || recovery.elastic.groups > 0 ||
        inputs_.table.islands.has_islands() || recovery.repair_slots > 0 ||
        recovery.evict_after > 0 || waits_for_more()) {
      return;
    }
    const double length_s = inputs_.campaign.length_s;
    const double expected_s =
        expected_wait_s(inputs_.failures, inputs_.nodes, recovery.spares, length_s);
    Estimate& wait_s = report.lost_s[static_cast<int>(Loss::wait)];
    const double unseen_s = expected_s - wait_s.mean;
    if (unseen_s <= 0) return;
    wait_s.high = std::max(wait_s.high, expected_s);
    Estimate& wait = report.lost[static_cast<int>(Loss::wait)];
    wait.high = std::max(wait.high, std::min(1.0, expected_s / length_s));
    const auto reach_down = [](Estimate& estimate, double lost) {
      estimate.low = std::max(0.0, estimate.low - lost);
    };
    reach_down(report.useful_s, unseen_s);
    reach_down(report.goodput, unseen_s / length_s);
  }

  const CampaignInputs& inputs_;
  const std::vector<TrialResult>& results_;
};

}  // namespace

CampaignReport reduce(const CampaignInputs& inputs, const std::vector<TrialResult>& results) {
  return Reduction(inputs, results).report();
}

}  // namespace windtunnel
