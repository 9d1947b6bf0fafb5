#include "report/store/sweep_ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "models/base/error.hpp"
#include "models/results/paired_gain.hpp"
#include "report/console/console.hpp"
#include "report/figures/figures.hpp"
#include "report/store/sweep_figures.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kGoodput = "goodput";
constexpr std::string_view kProgress = "progress";

bool is_of_progress(const Json& runner_up) {
  return runner_up.value("by", std::string(kGoodput)) == kProgress;
}

double tokens_per_s(const Json& point) {
  return number_at(point, "iteration.tokens_per_s").value_or(0);
}

Json named(const Json& point) {
  return {{"index", point.at("index")}, {"set", point.at("set")}};
}

// Whether two points have equal days and cost, which differ with tokens and price rather than
// progress.
bool costs_alike(const Json& one, const Json& other) {
  constexpr double kAlike = 2e-3;
  return std::ranges::all_of(std::array{"campaign.job.days", "campaign.job.cost_usd"},
                             [&](const char* key) {
                               const double a = number_at(one, key).value_or(0);
                               const double b = number_at(other, key).value_or(0);
                               return std::abs(a - b) <= kAlike * std::max(a, b);
                             });
}

// The keys that vary, with circumstances first.
std::vector<std::string> ordered_keys(const Json& vary) {
  std::vector<std::string> keys;
  for (const Json& key : vary) keys.push_back(key.at("key"));
  std::stable_partition(keys.begin(), keys.end(), is_circumstance);
  return keys;
}

}  // namespace

bool has_result(const Json& point) {
  return point.contains("result") && point.at("result").is_object();
}

std::string set_text(const Json& set) {
  Overrides overrides;
  for (const auto& [key, value] : set.items()) overrides.emplace_back(key, value);
  return set_text(overrides);
}

std::vector<size_t> places_of(const Sweep& sweep, size_t index) {
  std::vector<size_t> places(sweep.vary.size());
  for (size_t i = places.size(); i-- > 0;) {
    places[i] = index % sweep.vary[i].values.size();
    index /= sweep.vary[i].values.size();
  }
  return places;
}

size_t index_at(const Sweep& sweep, const std::vector<size_t>& places) {
  size_t index = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    index = index * sweep.vary[i].values.size() + places[i];
  }
  return index;
}

bool is_circumstance(std::string_view key) {
  return key.starts_with("failures");
}

const Json* as_good_of(const Json& best, const std::string& key) {
  const auto all = best.find("as_good");
  if (all == best.end()) return nullptr;  // another version wrote the sweep
  const auto found =
      std::ranges::find_if(*all, [&](const Json& one) { return one.at("key") == key; });
  return found == all->end() ? nullptr : &*found;
}

SweepRanking::SweepRanking(const std::vector<Json>& points) {
  for (const Json& point : points) {
    if (has_result(point)) fastest_ = std::max(fastest_, tokens_per_s(point));
  }
  std::vector<const Json*> ran;
  std::vector<Standing> standings;
  for (const Json& point : points) {
    if (!has_result(point)) continue;
    ran.push_back(&point);
    standings.push_back({.worth = number_at(point, "campaign.goodput").value_or(0) * speed(point)});
  }
  for (const size_t i : best_first(standings)) order_.push_back(ran[i]);
}

std::string_view SweepRanking::measure_of(size_t place) const {
  return speed(at(0)) == speed(at(place)) ? kGoodput : kProgress;
}

Estimate SweepRanking::lead_over(size_t place) const {
  return paired_gain(progress(at(0)), progress(at(place)));
}

std::optional<AsGood> SweepRanking::as_good(const VariedKey& key) const {
  const std::optional<KeyNumbers> numbers = numbers_of(key);
  if (!numbers || is_circumstance(key.key)) return std::nullopt;
  Json set = at(0).at("set");
  // [number] the best point, and points that differ from it only in this key.
  std::map<double, const Json*> along;
  for (const Json* point : order_) {
    set[key.key] = point->at("set").at(key.key);
    if (set != point->at("set")) continue;
    const auto value = std::ranges::find(key.values, set.at(key.key).get<std::string>());
    CHECK(value != key.values.end(), "a value of {} that is not varied", key.key);
    along[numbers->values[static_cast<size_t>(value - key.values.begin())]] = point;
  }
  std::vector<std::vector<double>> trials;
  std::vector<std::string> values;
  std::vector<bool> alike;
  size_t best = 0;
  for (const auto& [number, point] : along) {
    if (point == order_.front()) best = trials.size();
    trials.push_back(progress(*point));
    values.push_back(point->at("set").at(key.key));
    alike.push_back(costs_alike(at(0), *point));
  }
  auto [first, last] = as_good_places(trials, best);
  for (size_t place = first; place < best; ++place) {
    if (!alike[place]) first = place + 1;
  }
  for (size_t place = last; place > best; --place) {
    if (!alike[place]) last = place - 1;
  }
  if (first == last || trials[best].empty()) return std::nullopt;
  return AsGood{key.key, values[first], values[last]};
}

double SweepRanking::speed(const Json& point) const {
  return fastest_ > 0 ? tokens_per_s(point) / fastest_ : 1;
}

std::vector<double> SweepRanking::progress(const Json& point) const {
  auto values = point.at("trial_goodput").get<std::vector<double>>();
  for (double& value : values) value *= speed(point);
  return values;
}

Json best_point(const Sweep& sweep, const std::vector<Json>& points) {
  const SweepRanking ranking(points);
  if (ranking.size() == 0) return nullptr;
  Json best = named(ranking.at(0));
  best["goodput"] = ranking.at(0).at("result").at("goodput");
  best["runner_up"] = nullptr;
  best["equals"] = Json::array();
  for (size_t place = 1; place < ranking.size(); ++place) {
    if (is_gain(ranking.lead_over(place))) continue;
    best["equals"].push_back(ranking.at(place).at("index"));
  }
  best["stands_out"] = best["equals"].size() + 1 < ranking.size() || ranking.size() == 1;
  if (ranking.size() > 1) {
    best["runner_up"] = named(ranking.at(1));
    const Estimate lead = ranking.lead_over(1);
    best["runner_up"]["difference"] = estimate_json(lead);
    best["runner_up"]["by"] = std::string(ranking.measure_of(1));
  }
  best["as_good"] = Json::array();
  for (const VariedKey& key : sweep.vary) {
    if (const std::optional<AsGood> range = ranking.as_good(key)) {
      best["as_good"].push_back(MEMBERS_JSON(*range, key, from, to));
    }
  }
  return best;
}

bool offers_choices(const Sweep& sweep) {
  return std::ranges::any_of(sweep.vary,
                             [](const VariedKey& key) { return !is_circumstance(key.key); });
}

Json best_by_circumstance(const Sweep& sweep, const std::vector<Json>& points) {
  Json all = Json::array();
  const bool circumstances = std::ranges::any_of(
      sweep.vary, [](const VariedKey& key) { return is_circumstance(key.key); });
  if (!circumstances || !offers_choices(sweep)) return all;
  std::map<std::vector<size_t>, std::vector<Json>> groups;  // [places of circumstances]
  for (const Json& point : points) {
    std::vector<size_t> places = places_of(sweep, point.at("index").get<size_t>());
    for (size_t i = 0; i < places.size(); ++i) {
      if (!is_circumstance(sweep.vary[i].key)) places[i] = 0;
    }
    groups[places].push_back(point);
  }
  for (const auto& [places, group] : groups) {
    Json best = best_point(sweep, group);
    if (!best.is_null()) all.push_back(std::move(best));
  }
  return all;
}

std::vector<std::pair<std::string, std::vector<const Json*>>> infeasible_points(
    const Json& points) {
  std::vector<std::pair<std::string, std::vector<const Json*>>> reasons;
  for (const Json& point : points) {
    if (has_result(point)) continue;
    const std::string reason = point.at("reason");
    auto same = std::ranges::find(reasons, reason, &decltype(reasons)::value_type::first);
    if (same == reasons.end()) same = reasons.insert(same, {reason, {}});
    same->second.push_back(&point);
  }
  return reasons;
}

std::string runner_up_text(const Json& runner_up) {
  const Json& difference = runner_up.at("difference");
  const Estimate lead = {.mean = difference.at("mean"), .low = difference.at("low")};
  const char* verdict = is_gain(lead)  ? ""
                        : lead.low > 0 ? ": too little to decide"
                                       : ": these trials do not show which of the two is better";
  return fmt::format("{}, with {} points less {} under the same failures ({} {}){}",
                     set_text(runner_up.at("set")), value_text(Unit::points, difference.at("mean")),
                     is_of_progress(runner_up) ? kProgressTitle : figure("campaign.goodput").title,
                     kIntervalTitle, range_of(Unit::points, difference), verdict);
}

TextTable best_by_table(const Json& document) {
  const std::vector<std::string> keys = ordered_keys(document.at("vary"));
  const Figure& goodput = figure("campaign.goodput");
  TextTable table;
  for (const std::string& key : keys) {
    table.columns.push_back({(is_circumstance(key) ? "" : "best ") + key});
  }
  const bool by_progress = std::ranges::any_of(document.at("best_by"), [](const Json& best) {
    return best.at("runner_up").is_object() && is_of_progress(best.at("runner_up"));
  });
  for (const std::string& title :
       {goodput.title, std::string(kIntervalTitle),
        fmt::format("{}over the next (points)", by_progress ? "progress " : "")}) {
    table.columns.push_back({title, Align::right});
  }
  for (const Json& best : document.at("best_by")) {
    std::vector<std::string> row;
    for (const std::string& key : keys) {
      const Json* range = as_good_of(best, key);
      row.push_back(range == nullptr ? best.at("set").at(key).get<std::string>()
                                     : fmt::format("{} .. {}", range->at("from").get<std::string>(),
                                                   range->at("to").get<std::string>()));
    }
    row.push_back(value_text(goodput.unit, best.at("goodput").at("mean")));
    row.push_back(range_of(goodput.unit, best.at("goodput")));
    const Json& next = best.at("runner_up");
    row.push_back(next.is_null()
                      ? "-"
                      : fmt::format(fmt::runtime(estimate_pattern()),
                                    value_text(Unit::points, next["difference"].at("mean")),
                                    value_text(Unit::points, next["difference"].at("low")),
                                    value_text(Unit::points, next["difference"].at("high"))));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace windtunnel
