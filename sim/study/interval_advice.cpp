#include "sim/study/interval_advice.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "models/reliability/failure_traits.hpp"
#include "models/reliability/interval_theory.hpp"
#include "models/reliability/saving_interval.hpp"
#include "models/reliability/snapshot_place.hpp"
#include "models/results/paired_gain.hpp"
#include "sim/campaign/campaign_plan.hpp"
#include "sim/campaign/pace.hpp"
#include "sim/study/as_good_range.hpp"
#include "sim/study/paired_trials.hpp"

namespace windtunnel {
namespace {

constexpr int kAdvicePoints = 9;
constexpr int kWayPoints = 5;
constexpr double kGridFactor = 4;  // the grid goes from the exact interval / 4 to 4 times it

// Returns the share of failures whose notice is too short to save at the end of an iteration.
double unsaved_share(const FailureClass& failure_class, const CampaignPlan& plan) {
  const std::vector<int> any_node = {0};
  const int tier = plan.saver_within(failure_class.notice_s, any_node);
  if (failure_class.notice_s == 0 || tier == kNoTier) return 1;
  const IterationTable& table = plan.inputs.table;
  const double spare_s = failure_class.notice_s - table.tiers[tier].complete_s;
  return std::max(0.0, 1 - spare_s / table.iteration_s[0]);
}

// All failures together after which a job goes back to a snapshot.
struct Failures {
  double per_s = 0;
  double detect_s = 0;    // mean, including the time until a human responds
  double node_share = 0;  // share of these failures that destroys the copies on a node
};

Failures failures_of(const CampaignInputs& inputs) {
  const RecoveryPolicy& recovery = inputs.recovery;
  const CampaignPlan plan(inputs);
  Failures failures;
  for (const FailureClass& one : inputs.failures) {
    if (!traits_of(one.kind).goes_back) continue;
    const double per_s =
        mean_rate_per_s(one, inputs.nodes, inputs.campaign.length_s) * unsaved_share(one, plan);
    const double detect_s = one.detect_s >= 0 ? one.detect_s : recovery.detect_s;
    failures.per_s += per_s;
    if (one.notice_s == 0) {
      failures.detect_s += per_s * (detect_s + one.manual_share * recovery.manual_s);
    }
    if (one.kind == FailureKind::node) failures.node_share += per_s;
  }
  if (failures.per_s > 0) {
    failures.detect_s /= failures.per_s;
    failures.node_share /= failures.per_s;
  }
  return failures;
}

// The tier that the advice is about.
struct Subject {
  std::size_t tier = 0;
  double iteration_s = 0;
  double stall_s = 0;
  double lag_s = 0;     // from the end of the stall until the copy is complete
  double restored = 0;  // share of the failures that go back to this tier
  double configured_s = 0;
  double least_s = 0;
  double most_s = 0;
  double training = 1;  // share of the time that is not pauses

  int iterations(double work_s) const {
    constexpr double kMost = std::numeric_limits<int>::max();
    return static_cast<int>(std::clamp(std::round(work_s / iteration_s), 1.0, kMost));
  }
  double possible_s(double work_s) const { return std::clamp(work_s, least_s, most_s); }
  // Returns the training time that a snapshot costs. With `block`, training waits if a copy is not
  // complete when the next one is due. With `queue` it waits about as long for an earlier copy (see
  // Pace). With `skip` it never waits, because configured_s() leaves time for the copy.
  double cost_s(double work_s) const { return stall_s + std::max(0.0, lag_s - work_s); }
};

// Returns the least multiple of `unit_s` that is at least `time_s`, and at least one unit.
double whole_s(double time_s, double unit_s) {
  return std::max(1.0, std::ceil(time_s / unit_s - 1e-9)) * unit_s;
}

// Returns the actual interval of a tier in a campaign. With `skip` it is a multiple of the period
// if a copy takes longer than this.
double configured_s(const IterationTable& table, const Subject& subject) {
  const Pace pace(table, subject.iteration_s, std::vector<int>(table.tiers.size(), 1));
  const Cadence& cadence = pace.cadence(static_cast<int>(subject.tier));
  return cadence.training_s(subject.iteration_s, subject.stall_s);
}

Subject subject(const CampaignInputs& inputs, const CampaignReport& report, std::size_t index) {
  const IterationTable& table = inputs.table;
  const TierTiming& timing = table.tiers[index];
  Subject subject;
  subject.tier = index;
  subject.iteration_s = table.iteration_s[0];
  subject.stall_s =
      std::max(0.0, table.iteration_s[std::size_t{1} << index] - table.iteration_s[0]);
  subject.lag_s = std::max(0.0, timing.complete_s - subject.stall_s);
  subject.least_s =
      whole_s(std::max(subject.lag_s, storage_interval_s(inputs, index)), subject.iteration_s);
  subject.most_s = std::max(subject.least_s, inputs.campaign.length_s);
  subject.configured_s = configured_s(table, subject);
  const std::vector<int> kept(table.tiers.size(), 1);
  subject.training = Pace(table, subject.iteration_s, kept).training_share();

  const auto share = report.survival.find(tier_name(timing.tier));
  if (share != report.survival.end()) subject.restored = share->second.mean;
  return subject;
}

// Returns the tiers that save at intervals: not replicas on GPUs, which hold the newest state.
std::vector<Subject> subjects(const CampaignInputs& inputs, const CampaignReport& report) {
  std::vector<Subject> all;
  for (std::size_t i = 0; i < inputs.table.tiers.size(); ++i) {
    if (!traits_of(inputs.table.tiers[i].tier).copied) continue;
    all.push_back(subject(inputs, report, i));
  }
  return all;
}

// Among tiers to which failures go back, returns the index of the one whose snapshots and lost work
// (half an interval for each failure, first order) take the largest share of the time; among equals
// the farthest.
std::optional<std::size_t> costliest(const std::vector<Subject>& tiers, double failures_per_s) {
  std::optional<std::size_t> best;
  double best_share = 0;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    const Subject& one = tiers[i];
    const double lost_s = one.configured_s / 2 + one.lag_s;
    const double cost_s = one.cost_s(one.configured_s);
    const double share =
        cost_s / (one.configured_s + cost_s) + one.restored * failures_per_s * lost_s;
    if (one.restored <= 0 || share < best_share) continue;
    best_share = share;
    best = i;
  }
  return best;
}

PairedCampaign campaign_at(CampaignInputs inputs, const CampaignReport& report,
                           const Subject& subject, int every, int threads) {
  save_every_iterations(inputs.table.tiers[subject.tier].tier, every);
  return paired_campaign(std::move(inputs), report, paired_trials(report), threads);
}

// Returns the campaign itself. If a tier has a rule, returns one with the mean intervals of all
// rules, like the campaigns with which it is compared.
PairedCampaign campaign_as_configured(const CampaignInputs& inputs, const CampaignReport& report,
                                      int threads) {
  const bool ruled =
      std::ranges::any_of(report.ruled_every_s, [](double every_s) { return every_s > 0; });
  if (!ruled) return {report.goodput, report.trial_goodput};
  return paired_campaign(inputs, report, paired_trials(report), threads);
}

// The goodput of an interval by formula. Empty if no failure goes back to the tier.
using Expected = std::function<double(double work_s)>;

// The formulas are for a job that stops and goes back as a whole to this tier.
Expected set_formulas(IntervalReport& advice, const CampaignInputs& inputs, const Subject& subject,
                      const Failures& failures) {
  const TierTiming& timing = inputs.table.tiers[subject.tier];
  const double rebuilt = timing.rebuild_s > 0 ? failures.node_share : 0;
  advice.mtbf_s = 1 / (failures.per_s * subject.restored);
  advice.restart_s = failures.detect_s + inputs.recovery.restart_s / inputs.recovery.success +
                     timing.restore_s + rebuilt * (timing.rebuild_s - timing.restore_s) +
                     timing.startup.alone_s + inputs.table.storm_chance * timing.startup.storm_s;
  advice.young_s = subject.possible_s(young_interval_s(advice.cost_s, advice.mtbf_s));
  advice.daly_s = subject.possible_s(daly_interval_s(advice.cost_s, advice.mtbf_s));
  advice.exact_s = subject.possible_s(exact_interval_s(advice.cost_s, advice.mtbf_s));
  Expected expected = [subject, mtbf_s = advice.mtbf_s,
                       restart_s = advice.restart_s + subject.lag_s](double work_s) {
    return subject.training *
           expected_goodput(work_s / subject.training, subject.cost_s(work_s), mtbf_s, restart_s);
  };
  advice.formula_goodput = expected(advice.configured_s);
  advice.rsc_ettr =
      subject.training * rsc_ettr(inputs.nodes, 1 / advice.mtbf_s / inputs.nodes, advice.restart_s,
                                  advice.configured_s / subject.training,
                                  subject.cost_s(advice.configured_s));
  return expected;
}

// Returns intervals in iterations: around the exact formula's, or all possible without a formula.
std::set<int> intervals_to_try(const IntervalReport& advice, const Subject& subject) {
  std::set<int> intervals = {subject.iterations(advice.configured_s)};
  const bool by_formula = advice.mtbf_s > 0;
  for (int i = 0; i < kAdvicePoints; ++i) {
    const double place = static_cast<double>(i) / (kAdvicePoints - 1);
    const double work_s = by_formula
                              ? advice.exact_s * std::pow(kGridFactor, 2 * place - 1)
                              : subject.least_s * std::pow(subject.most_s / subject.least_s, place);
    intervals.insert(subject.iterations(subject.possible_s(work_s)));
  }
  if (!by_formula) return intervals;
  for (const double every_s : {advice.young_s, advice.daly_s, advice.exact_s}) {
    intervals.insert(subject.iterations(every_s));
  }
  // Adds intervals between these and a configured interval that is far away.
  const double ratio = advice.configured_s / advice.exact_s;
  if (std::abs(std::log(ratio)) <= std::log(kGridFactor)) return intervals;
  for (int i = 1; i <= kWayPoints; ++i) {
    const double part = std::pow(ratio, double(i) / (kWayPoints + 1));
    intervals.insert(subject.iterations(advice.exact_s * part));
  }
  return intervals;
}

// Campaigns at intervals of one tier, in iterations. Reported campaigns have the failures of the
// campaign itself; those by which an interval is chosen have others (to_choose_by()).
class Tries {
 public:
  Tries(const CampaignInputs& inputs, const CampaignReport& report, const Subject& subject,
        int threads)
      : inputs_(inputs), report_(report), subject_(subject), threads_(threads) {}

  const PairedCampaign& told(int every) {
    const auto known = told_.find(every);
    if (known != told_.end()) return known->second;
    PairedCampaign campaign = every == subject_.iterations(subject_.configured_s)
                                  ? campaign_as_configured(inputs_, report_, threads_)
                                  : campaign_at(inputs_, report_, subject_, every, threads_);
    return told_.emplace(every, std::move(campaign)).first->second;
  }
  const std::map<int, PairedCampaign>& all_told() const { return told_; }

  const PairedCampaign& to_choose_by(int every) {
    const auto known = chosen_by_.find(every);
    if (known != chosen_by_.end()) return known->second;
    CampaignInputs inputs = windtunnel::to_choose_by(inputs_);
    save_every_iterations(inputs.table.tiers[subject_.tier].tier, every);
    inputs.campaign.trials = paired_trials(report_);
    CampaignReport campaign = run_campaign(inputs, threads_);
    return chosen_by_
        .emplace(every, PairedCampaign{campaign.goodput, std::move(campaign.trial_goodput)})
        .first->second;
  }

 private:
  const CampaignInputs& inputs_;
  const CampaignReport& report_;
  const Subject& subject_;
  int threads_;
  std::map<int, PairedCampaign> told_;       // [iterations between saves] reported campaigns
  std::map<int, PairedCampaign> chosen_by_;  // the same intervals
};

void set_best(IntervalReport& advice, const Subject& subject, const std::set<int>& intervals,
              Tries& tries) {
  AsGoodSearch search{.least_s = subject.least_s,
                      .most_s = subject.most_s,
                      .tried = {},
                      .campaign_at = [&](double every_s) -> const PairedCampaign& {
                        return tries.to_choose_by(subject.iterations(every_s));
                      }};
  for (const int every : intervals) search.tried.push_back(every * subject.iteration_s);
  const AsGoodRange range = as_good_range(search);
  const auto whole = [&](double every_s) {
    return subject.iterations(every_s) * subject.iteration_s;
  };
  advice.best_s = whole(range.best_s);
  advice.best_goodput = tries.told(subject.iterations(range.best_s)).goodput.mean;
  advice.shortest_s = whole(range.shortest_s);
  advice.longest_s = whole(range.longest_s);
}

IntervalReport advice_of(const CampaignInputs& inputs, const CampaignReport& report,
                         const Subject& subject, const Failures& failures, int threads) {
  IntervalReport advice;
  advice.tier = tier_name(inputs.table.tiers[subject.tier].tier);
  advice.cost_s = subject.stall_s;
  advice.storage_s = storage_interval_s(inputs, subject.tier);
  advice.configured_s = subject.configured_s;
  Expected expected;
  if (failures.per_s * subject.restored > 0) {
    expected = set_formulas(advice, inputs, subject, failures);
  }
  Tries tries(inputs, report, subject, threads);
  const std::set<int> intervals = intervals_to_try(advice, subject);
  for (const int every : intervals) tries.told(every);
  set_best(advice, subject, intervals, tries);
  for (const auto& [every, campaign] : tries.all_told()) {
    const double work_s = every * subject.iteration_s;
    advice.points.push_back({work_s, expected ? expected(work_s) : 0, campaign.goodput});
  }
  if (!expected) return advice;
  // Both intervals are judged by the failures that chose the best one. Under other failures the
  // best could lose to that of the formula by chance.
  const auto chosen_by = [&](double every_s) {
    return tries.to_choose_by(subject.iterations(every_s)).goodput.mean;
  };
  const auto regret = [&](double every_s) { return chosen_by(advice.best_s) - chosen_by(every_s); };
  advice.young_regret = regret(advice.young_s);
  advice.exact_regret = regret(advice.exact_s);
  return advice;
}

// On the tier whose interval costs most, or on each of the others. The formulas are for a job that
// stops and goes back as a whole.
std::vector<IntervalReport> advice_on(const CampaignInputs& ruled_inputs,
                                      const CampaignReport& report, bool others, int threads) {
  const CampaignInputs inputs = with_ruled_intervals(ruled_inputs, report);
  if (inputs.recovery.elastic.groups > 0 || inputs.table.islands.has_islands()) return {};
  const Failures failures = failures_of(inputs);
  const std::vector<Subject> tiers = subjects(inputs, report);
  const std::optional<std::size_t> first = costliest(tiers, failures.per_s);
  if (!first || failures.per_s <= 0) return {};
  std::vector<IntervalReport> advice;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    if ((i == *first) == others) continue;
    advice.push_back(advice_of(inputs, report, tiers[i], failures, threads));
  }
  return advice;
}

}  // namespace

double storage_interval_s(const CampaignInputs& inputs, std::size_t tier) {
  return inputs.table.tiers[tier].storage_s / inputs.storage_share;
}

std::optional<IntervalReport> interval_advice(const CampaignInputs& inputs,
                                              const CampaignReport& report, int threads) {
  std::vector<IntervalReport> advice = advice_on(inputs, report, false, threads);
  if (advice.empty()) return std::nullopt;
  return std::move(advice.front());
}

std::vector<IntervalReport> other_interval_advice(const CampaignInputs& inputs,
                                                  const CampaignReport& report, int threads) {
  return advice_on(inputs, report, true, threads);
}

}  // namespace windtunnel
