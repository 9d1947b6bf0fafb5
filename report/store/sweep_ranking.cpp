#include "report/store/sweep_ranking.hpp"

#include <algorithm>
#include <map>

#include "report/console/console.hpp"

namespace windtunnel {
namespace {

double tokens_per_s(const Json& point) {
  return point.at("iteration").at("tokens_per_s").get<double>();
}

Json named(const Json& point) {
  return {{"index", point.at("index")}, {"set", point.at("set")}};
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

bool is_circumstance(std::string_view key) {
  return key.starts_with("failures");
}

SweepRanking::SweepRanking(const std::vector<Json>& points) {
  for (const Json& point : points) {
    if (has_result(point)) fastest_ = std::max(fastest_, tokens_per_s(point));
  }
  for (const Json& point : points) {
    if (!has_result(point)) continue;
    order_.emplace_back(point.at("result").at("goodput").at("mean").get<double>() * speed(point),
                        &point);
  }
  std::ranges::stable_sort(order_, [](const auto& a, const auto& b) { return a.first > b.first; });
}

Estimate SweepRanking::lead_over(size_t place) const {
  const std::vector<double> best = progress(at(0));
  const std::vector<double> other = progress(at(place));
  std::vector<double> lead(std::min(best.size(), other.size()));
  for (size_t i = 0; i < lead.size(); ++i) lead[i] = best[i] - other[i];
  return estimate(std::move(lead), 1, -1);
}

double SweepRanking::speed(const Json& point) const {
  return fastest_ > 0 ? tokens_per_s(point) / fastest_ : 1;
}

std::vector<double> SweepRanking::progress(const Json& point) const {
  auto values = point.at("replica_goodput").get<std::vector<double>>();
  for (double& value : values) value *= speed(point);
  return values;
}

Json best_point(const std::vector<Json>& points) {
  const SweepRanking ranking(points);
  if (ranking.size() == 0) return nullptr;
  Json best = named(ranking.at(0));
  best["goodput"] = ranking.at(0).at("result").at("goodput");
  best["runner_up"] = nullptr;
  if (ranking.size() > 1) {
    best["runner_up"] = named(ranking.at(1));
    const Estimate lead = ranking.lead_over(1);
    best["runner_up"]["difference"] = {{"mean", lead.mean}, {"low", lead.low}, {"high", lead.high}};
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
  std::map<std::vector<size_t>, std::vector<Json>> groups;  // by the places of circumstances
  for (const Json& point : points) {
    std::vector<size_t> places = places_of(sweep, point.at("index").get<size_t>());
    for (size_t i = 0; i < places.size(); ++i) {
      if (!is_circumstance(sweep.vary[i].key)) places[i] = 0;
    }
    groups[places].push_back(point);
  }
  for (const auto& [places, group] : groups) {
    Json best = best_point(group);
    if (!best.is_null()) all.push_back(std::move(best));
  }
  return all;
}

}  // namespace windtunnel
