#include "sim/study/interval_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/reliability/saving_interval.hpp"
#include "models/results/paired_gain.hpp"
#include "policies/protection/snapshot_tiers.hpp"
#include "scenarios/language/text/fields.hpp"
#include "sim/campaign/pace.hpp"
#include "sim/study/as_good_range.hpp"
#include "sim/study/interval_advice.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

constexpr int kSearchPoints = 25;
constexpr int kNearPoints = 5;         // points of later rounds, around the best one so far
constexpr double kNearFactor = 4;      // by which these reach up and down
constexpr double kLeastFactor = 1.02;  // between neighbours, so that three digits distinguish them
constexpr double kLeastGain = 1e-6;    // smallest relative gain for which another round follows
constexpr int kMostRounds = 6;

enum class Rounded { down, up };

// Rounds to three digits.
double rounded(double number, Rounded way) {
  const double digit = std::pow(10, std::floor(std::log10(number)) - 2);
  const double digits = number / digit;
  return digit * (way == Rounded::down ? std::floor(digits * (1 + 1e-12))
                                       : std::ceil(digits * (1 - 1e-12)));
}

// Rounds 12.3456789 min to "12.3 min" or "12.4 min", depending on `way`.
std::string three_digits(double seconds, Rounded way) {
  const std::string text = format_quantity(seconds, Dimension::seconds);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  CHECK(error == std::errc() && number > 0, "the quantity {}", text);
  return fmt::format("{:.3g}{}", rounded(number, way), end);
}

// Replaces an interval that is stated as a share of the time (`every_overhead`) by the number of
// iterations that follows, which can be searched.
void resolve_overheads(IterationTable& table) {
  const Pace pace(table, table.iteration_s.front(), std::vector<int>(table.tiers.size(), 1));
  for (int i = 0; i < pace.tiers(); ++i) {
    SnapshotTier& tier = table.tiers[i].tier;
    if (saves_for_share(tier)) save_every_iterations(tier, pace.cadence(i).every_iterations);
  }
}

class Search {
 public:
  Search(CampaignInputs inputs, std::vector<int> tiers, const IntervalSearchOptions& options)
      : inputs_(std::move(inputs)), tiers_(std::move(tiers)), options_(options) {
    result_.given = run_campaign(inputs_, options_.threads);
    given_campaign_ = run_campaign(to_choose_by(inputs_), options_.threads);
    best_campaign_ = given_campaign_;
    best_value_ = value_of(given_campaign_);
    result_.campaigns = 2;
    resolve_overheads(inputs_.table);
    for (const int index : tiers_) {
      chosen_.push_back(interval_text(inputs_.table.tiers[index].tier));
    }
    for (size_t at = 0; at < tiers_.size(); ++at) shortest_s_.push_back(shortest_s(at));
    given_ = chosen_;
    best_ = chosen_;
    values_.emplace(given_, best_value_);
    campaigns_.emplace(given_, paired(given_campaign_));
    keep_to_storage();
  }

  IntervalSearch run() {
    for (int round = 0; round < kMostRounds; ++round) {
      const double before = best_value_;
      for (size_t at = 0; at < tiers_.size(); ++at) search_tier(at, round == 0);
      const bool gained = best_value_ - before > kLeastGain * std::abs(before);
      if (tiers_.size() == 1 || !gained) break;
    }
    finish();
    return std::move(result_);
  }

 private:
  // Replaces a given interval that takes more of the storage than is allowed.
  void keep_to_storage() {
    for (size_t at = 0; at < tiers_.size(); ++at) {
      const double least_s = storage_allows_s(at);
      if (seconds_of(at, chosen_[at]) >= least_s) continue;
      chosen_[at] = text_of(at, least_s);
      best_value_ = -std::numeric_limits<double>::infinity();
    }
  }

  bool storage_allows_given(size_t at) const {
    return seconds_of(at, given_[at]) >= storage_allows_s(at);
  }

  // The shortest interval that the storage allows, in whole iterations.
  double storage_allows_s(size_t at) const {
    const double least_s = storage_interval_s(inputs_, tiers_[at]);
    return std::ceil(least_s / iteration_s() - 1e-9) * iteration_s();
  }

  double iteration_s() const { return inputs_.table.iteration_s.front(); }

  const SnapshotTier& tier(size_t at) const { return inputs_.table.tiers[tiers_[at]].tier; }

  std::string text_of(size_t at, double every_s, Rounded way) const {
    const double count = std::max(1.0, std::round(every_s / iteration_s()));
    if (!counts_iterations(tier(at))) return three_digits(count * iteration_s(), way);
    return format_quantity(count < 1000 ? count : rounded(count, way), Dimension::iterations);
  }

  // Rounds down, because a save is due at the end of an iteration. Rounds up if the result would
  // otherwise be too short.
  std::string text_of(size_t at, double every_s) const {
    std::string text = text_of(at, every_s, Rounded::down);
    const bool too_short = seconds_of(at, text) < (1 - 1e-9) * shortest_s_[at];
    return too_short ? text_of(at, std::max(every_s, shortest_s_[at]), Rounded::up) : text;
  }

  // Returns the seconds of training between two saves, in whole iterations.
  double seconds_of(size_t at, const std::string& text) const {
    const double iterations =
        counts_iterations(tier(at))
            ? parse_quantity(text, Dimension::iterations)
            : std::ceil(parse_quantity(text, Dimension::seconds) / iteration_s() - 1e-9);
    return std::max(1.0, iterations) * iteration_s();
  }

  // A larger value is better.
  double value_of(const CampaignReport& report) const {
    return options_.aim == Aim::cost ? -report.job_cost_usd.mean : report.goodput.mean;
  }

  // Returns the value if this tier gets this interval and the others keep the chosen ones.
  double value_at(size_t at, double every_s) {
    std::vector<std::string> texts = chosen_;
    texts[at] = text_of(at, every_s);
    return value_of_all(texts);
  }

  double value_of_all(const std::vector<std::string>& texts) {
    const auto known = values_.find(texts);
    if (known != values_.end()) return known->second;
    CampaignReport report = campaign_at(texts);
    const double value = value_of(report);
    values_.emplace(texts, value);
    if (value > best_value_) {
      best_value_ = value;
      best_campaign_ = std::move(report);
      best_ = texts;
    }
    return value;
  }

  CampaignReport campaign_at(const std::vector<std::string>& texts) {
    CampaignReport report = run(to_choose_by(inputs_at(texts)));
    campaigns_.insert_or_assign(texts, paired(report));
    return report;
  }

  CampaignReport run(const CampaignInputs& inputs) {
    if (options_.progress) {
      options_.progress(fmt::format("campaign {}, goodput {} so far", result_.campaigns + 1,
                                    format_percent(best_campaign_.goodput.mean)));
    }
    ++result_.campaigns;
    return run_campaign(inputs, options_.threads);
  }

  static PairedCampaign paired(const CampaignReport& report) {
    return {report.goodput, report.trial_goodput};
  }

  CampaignInputs inputs_at(const std::vector<std::string>& texts) const {
    CampaignInputs inputs = inputs_;
    for (size_t i = 0; i < tiers_.size(); ++i) {
      SnapshotTier& searched = inputs.table.tiers[tiers_[i]].tier;
      if (counts_iterations(searched)) {
        save_every_iterations(searched,
                              std::int64_t(parse_quantity(texts[i], Dimension::iterations)));
      } else {
        save_every_seconds(searched, parse_quantity(texts[i], Dimension::seconds));
      }
    }
    return inputs;
  }

  std::string name_of(size_t at) const { return tier_name(tier(at)); }

  // Whether a trial went back to the tier, with the given or the best intervals. If none did, the
  // trials do not show what its snapshots are worth.
  bool is_needed(size_t at) const {
    return std::ranges::any_of(std::array{&given_campaign_, &best_campaign_},
                               [&](const auto* report) {
                                 const auto share = report->survival.find(name_of(at));
                                 return share != report->survival.end() && share->second.mean > 0;
                               });
  }

  std::vector<std::string> with_given(size_t at) const {
    std::vector<std::string> texts = chosen_;
    texts[at] = given_[at];
    return texts;
  }

  // Gives the given interval back to a tier that no trial needed, and to one whose given interval
  // is as good if the others have their best. The total loss is not significant.
  void keep_given() {
    for (size_t at = 0; at < tiers_.size(); ++at) needed_.push_back(is_needed(at));
    for (size_t at = 0; at < tiers_.size(); ++at) {
      if (!needed_[at] && storage_allows_given(at)) chosen_ = with_given(at);
    }
    value_of_all(chosen_);
    const std::vector<double> most = campaigns_.at(chosen_).trials;
    for (size_t at = 0; at < tiers_.size(); ++at) {
      const std::vector<std::string> kept = with_given(at);
      if (kept == chosen_ || !storage_allows_given(at)) continue;
      value_of_all(kept);
      if (!is_gain(paired_gain(most, campaigns_.at(kept).trials))) chosen_ = kept;
    }
  }

  // Returns the intervals whose campaign is reported. If all tiers keep the given ones, these are
  // the best ones found, to show their small gain, or the given ones if it is significant.
  const std::vector<std::string>& told() const {
    if (chosen_ != given_) return chosen_;
    const bool gains =
        is_gain(paired_gain(best_campaign_.trial_goodput, given_campaign_.trial_goodput));
    return gains ? given_ : best_;
  }

  // Returns the shortest interval to try. At shorter ones the last copy is not complete yet when a
  // snapshot is due, or snapshots take more of the storage than their share.
  double shortest_s(size_t at) const {
    IterationTable table = inputs_.table;
    save_every_iterations(table.tiers[tiers_[at]].tier, 1);
    table.tiers[tiers_[at]].tier.when_busy = WhenBusy::skip;
    const Pace pace(table, iteration_s(), std::vector<int>(table.tiers.size(), 1));
    return std::max(pace.cadence(tiers_[at]).training_s(iteration_s(), 0), storage_allows_s(at));
  }

  void search_tier(size_t at, bool whole_range) {
    double low_s = shortest_s_[at];
    double high_s = std::max(low_s, inputs_.campaign.length_s);
    int points = kSearchPoints;
    if (!whole_range) {
      const double now_s = seconds_of(at, chosen_[at]);
      low_s = std::max(low_s, now_s / kNearFactor);
      high_s = std::min(high_s, now_s * kNearFactor);
      points = kNearPoints;
    }
    high_s = std::max(low_s, high_s);
    const double step = std::pow(high_s / low_s, 1.0 / (points - 1));
    int best = 0;
    double best_value = 0;
    for (int i = 0; i < points; ++i) {
      const double value = value_at(at, low_s * std::pow(step, i));
      if (i == 0 || value > best_value) {
        best = i;
        best_value = value;
      }
    }
    golden_section(at, low_s * std::pow(step, std::max(best - 1, 0)),
                   low_s * std::pow(step, std::min(best + 1, points - 1)));
    chosen_ = best_;
  }

  void golden_section(size_t at, double low_s, double high_s) {
    constexpr double kGolden = 0.6180339887498949;
    const auto inner = [&](double share) { return low_s * std::pow(high_s / low_s, share); };
    double left_s = inner(1 - kGolden), right_s = inner(kGolden);
    double left = value_at(at, left_s), right = value_at(at, right_s);
    while (high_s / low_s > kLeastFactor) {
      if (left >= right) {
        high_s = std::exchange(right_s, left_s);
        right = left;
        left_s = inner(1 - kGolden);
        left = value_at(at, left_s);
      } else {
        low_s = std::exchange(left_s, right_s);
        left = right;
        right_s = inner(kGolden);
        right = value_at(at, right_s);
      }
    }
  }

  // Returns the shortest and the longest interval of this tier that is as good as its best, if the
  // others keep the intervals that were chosen for them.
  std::pair<std::string, std::string> as_good(size_t at) {
    std::map<double, std::string> values;  // those simulated already
    for (const auto& [texts, campaign] : campaigns_) {
      std::vector<std::string> same = chosen_;
      same[at] = texts[at];
      if (texts == same) values.emplace(seconds_of(at, texts[at]), texts[at]);
    }
    const auto value = [&](double every_s) {
      const auto known = values.find(every_s);
      return known != values.end() ? known->second : text_of(at, every_s);
    };
    AsGoodSearch search{.least_s = shortest_s_[at],
                        .most_s = std::max(shortest_s_[at], inputs_.campaign.length_s),
                        .tried = {},
                        .campaign_at = [&](double every_s) -> const PairedCampaign& {
                          std::vector<std::string> texts = chosen_;
                          texts[at] = value(every_s);
                          if (!campaigns_.contains(texts)) campaign_at(texts);
                          return campaigns_.at(texts);
                        }};
    for (const auto& [every_s, text] : values) search.tried.push_back(every_s);
    const AsGoodRange range = as_good_range(search);
    return {value(range.shortest_s), value(range.longest_s)};
  }

  void finish() {
    keep_given();
    for (size_t i = 0; i < tiers_.size(); ++i) {
      const int index = tiers_[i];
      auto [shortest, longest] = as_good(i);
      result_.tiers.push_back({.index = index,
                               .key = interval_key(index),
                               .name = name_of(i),
                               .value = chosen_[i],
                               .every_s = seconds_of(i, chosen_[i]),
                               .shortest = std::move(shortest),
                               .longest = std::move(longest),
                               .storage_s = storage_interval_s(inputs_, index),
                               .given_s = seconds_of(i, given_[i]),
                               .as_given = chosen_[i] == given_[i],
                               .is_needed = needed_[i],
                               .storage_allows_given = storage_allows_given(i)});
    }
    result_.storage_share = inputs_.storage_share;
    result_.best = told() == given_ ? result_.given : run(inputs_at(told()));
    result_.gain = paired_gain(result_.best.trial_goodput, result_.given.trial_goodput);
    result_.theory = interval_advice(inputs_, result_.given, options_.threads);
  }

  CampaignInputs inputs_;
  const std::vector<int> tiers_;
  const IntervalSearchOptions& options_;
  std::vector<std::string> given_;   // [index in tiers_]
  std::vector<std::string> chosen_;  // the same index
  std::vector<std::string> best_;    // the same index: intervals with best_value_
  std::vector<double> shortest_s_;   // the same index: shortest_s()
  std::vector<bool> needed_;         // the same index: is_needed()
  // Like all campaigns below it has the failures by which intervals are chosen (to_choose_by()).
  CampaignReport given_campaign_;
  CampaignReport best_campaign_;
  double best_value_ = 0;
  std::map<std::vector<std::string>, double> values_;
  std::map<std::vector<std::string>, PairedCampaign> campaigns_;
  IntervalSearch result_;
};

}  // namespace

bool is_interval_key(const std::string& key) {
  return pattern_of(key) == "snapshots.*.every";
}

std::vector<int> searched_tiers(const std::vector<std::string>& keys, const Job& job) {
  std::vector<int> tiers;
  const int count = static_cast<int>(job.snapshots.size());
  for (const std::string& key : keys) {
    const std::string item = split_path(key).at(1);
    int index = count;
    std::from_chars(item.data(), item.data() + item.size(), index);
    if (item != "*" && (index >= count || !has_interval(job.snapshots[index]))) {
      throw Error(
          fmt::format("--over {}: the scenario has no tier {} with snapshots at intervals; the "
                      "index is that in `snapshots`, which has {} tier{}, counted from 0",
                      key, item, count, count == 1 ? "" : "s"));
    }
    for (int i = 0; i < count; ++i) {
      if ((item == "*" || i == index) && has_interval(job.snapshots[i])) tiers.push_back(i);
    }
  }
  std::ranges::sort(tiers);
  tiers.erase(std::unique(tiers.begin(), tiers.end()), tiers.end());
  if (tiers.empty()) throw Error("the scenario takes no snapshots at intervals");
  return tiers;
}

IntervalSearch search_intervals(const ScenarioText& scenario,
                                const IntervalSearchOptions& options) {
  const Case the_case = resolve_case(scenario);
  return the_case.places.placing([&] {
    check_aim(the_case.job, options.aim);
    std::vector<int> tiers = searched_tiers(options.keys, the_case.job);
    MeasuredIteration measured =
        measure_iteration(the_case, {.threads = options.threads, .progress = options.progress});
    return Search(campaign_inputs(the_case.job, std::move(measured.table)), std::move(tiers),
                  options)
        .run();
  });
}

}  // namespace windtunnel
