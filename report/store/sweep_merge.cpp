#include "report/store/sweep_merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "models/base/error.hpp"
#include "report/figures/figures.hpp"
#include "report/store/sweep_database.hpp"
#include "report/store/sweep_figures.hpp"
#include "report/store/sweep_ranking.hpp"
#include "report/store/sweep_store.hpp"

namespace windtunnel {
namespace {

constexpr size_t kMostReasons = 100;

// Selects the points that the document shows, and finds the best of all.
class Selection {
 public:
  Selection(const Sweep& sweep, SweepLines& lines, size_t most)
      : sweep_(sweep),
        lines_(lines),
        most_(most),
        goodput_(lines.points(), std::numeric_limits<double>::quiet_NaN()),
        tokens_per_s_(lines.points(), 0) {}

  void add(const Json& point) {
    const auto index = point.at("index").get<size_t>();
    if (has_result(point)) {
      goodput_[index] = number_at(point, "campaign.goodput").value_or(0);
      tokens_per_s_[index] = number_at(point, "iteration.tokens_per_s").value_or(0);
      ++ran_;
    } else if (reasons_.size() < kMostReasons) {
      reasons_.emplace(point.at("reason").get<std::string>(), static_cast<int>(index));
    }
  }

  // The results of a sweep with more points than the document shows.
  SweepResults results() {
    const std::vector<int> all = ran_ones();
    SweepBests bests{Json(), Json::array()};
    std::set<int> shown = candidates(all);
    if (offers_choices(sweep_)) bests.best = best_of(shown);
    for (const auto& [reason, index] : reasons_) shown.insert(index);
    const size_t skipped = add_circumstances(all, bests.best_by, shown);
    std::map<int, std::string> chosen;
    for (const int index : shown) chosen.emplace(index, lines_.line(index));
    SweepResults results = sweep_results(sweep_, chosen, bests);
    const auto shown_ran = static_cast<size_t>(std::ranges::count_if(
        results.points(), [](const Json& point) { return has_result(point); }));
    results.document["left_out"] = {
        {"ran", ran_ - shown_ran},
        {"infeasible", lines_.finished() - ran_ - (shown.size() - shown_ran)},
        {"circumstances", skipped}};
    return results;
  }

 private:
  bool ran(size_t index) const { return goodput_[index] == goodput_[index]; }

  std::vector<int> ran_ones() const {
    std::vector<int> all;
    for (size_t index = 0; index < goodput_.size(); ++index) {
      if (ran(index)) all.push_back(static_cast<int>(index));
    }
    return all;
  }

  // The best point among `few`, which candidates() has chosen from a larger set.
  Json best_of(const std::set<int>& few) {
    std::vector<Json> points;
    for (const int index : few) {
      points.push_back(parse_json(lines_.line(index), fmt::format("result of point {}", index)));
    }
    return best_point(sweep_, points);
  }

  // All of the points that ran if they are few; else those that decide which point is the best, how
  // certain that is, and which values are as good.
  std::set<int> candidates(const std::vector<int>& points) const {
    if (points.size() <= most_) return {points.begin(), points.end()};
    const int fastest =
        *std::ranges::max_element(points, {}, [&](int index) { return tokens_per_s_[index]; });
    const double most = tokens_per_s_[fastest];
    std::vector<Standing> standings;
    for (const int index : points) {
      standings.push_back(
          {.worth = goodput_[index] * (most > 0 ? tokens_per_s_[index] / most : 1)});
    }
    const std::vector<size_t> order = best_first(standings);
    std::set<int> chosen = {fastest, points[order.back()]};
    for (size_t place = 0; place < std::max<size_t>(most_ / 5, 2); ++place) {
      chosen.insert(points[order[place]]);
    }
    for (size_t key = 0; key < sweep_.vary.size(); ++key) {
      add_along(points[order.front()], key, most_ / (2 * sweep_.vary.size()), chosen);
    }
    return chosen;
  }

  // Adds up to `reach` points on either side that differ only in this key, by the order of its
  // numbers.
  void add_along(int from, size_t key, size_t reach, std::set<int>& chosen) const {
    const std::optional<KeyNumbers> numbers = numbers_of(sweep_.vary[key]);
    if (!numbers || is_circumstance(sweep_.vary[key].key)) return;
    std::vector<size_t> places = places_of(sweep_, static_cast<size_t>(from));
    std::vector<size_t> order(numbers->values.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](size_t i) { return numbers->values[i]; });
    const auto here = static_cast<size_t>(std::ranges::find(order, places[key]) - order.begin());
    for (size_t at = here > reach ? here - reach : 0; at < order.size() && at <= here + reach;
         ++at) {
      places[key] = order[at];
      const size_t index = index_at(sweep_, places);
      if (ran(index)) chosen.insert(static_cast<int>(index));
    }
  }

  // Adds the best point under each of the circumstances and its neighbours. Returns how many
  // circumstances are omitted.
  size_t add_circumstances(const std::vector<int>& all, Json& best_by, std::set<int>& shown) {
    const bool varied = std::ranges::any_of(
        sweep_.vary, [](const VariedKey& key) { return is_circumstance(key.key); });
    if (!varied || !offers_choices(sweep_)) return 0;
    // The key is the index of the point with the same circumstances and first choices.
    std::map<size_t, std::vector<int>> groups;
    for (const int index : all) {
      std::vector<size_t> places = places_of(sweep_, static_cast<size_t>(index));
      for (size_t i = 0; i < places.size(); ++i) {
        if (!is_circumstance(sweep_.vary[i].key)) places[i] = 0;
      }
      groups[index_at(sweep_, places)].push_back(index);
    }
    const size_t most = std::min(groups.size(), std::min(kMostCircumstances, most_));
    size_t number = 0, taken = 0;
    for (const auto& [first, group] : groups) {
      // Circumstances are chosen evenly, including the first and the last.
      const bool due = most < 2 || number * (most - 1) >= taken * (groups.size() - 1);
      ++number;
      if (!due) continue;
      ++taken;
      best_by.push_back(best_of(candidates(group)));
      const int best = best_by.back().at("index");
      for (size_t key = 0; key < sweep_.vary.size(); ++key) add_along(best, key, 1, shown);
      shown.insert(best);
    }
    return groups.size() - taken;
  }

  const Sweep& sweep_;
  SweepLines& lines_;
  const size_t most_;
  std::vector<double> goodput_;  // NaN: no result
  std::vector<double> tokens_per_s_;
  size_t ran_ = 0;
  std::map<std::string, int> reasons_;  // [reason] the first point with it
};

}  // namespace

MergedSweep merge_lines(const std::string& folder, const SweepHead& head, size_t most_shown) {
  SweepLines lines(folder, head);
  LineFile merged(folder + "/results.jsonl");
  SweepDatabase database(folder + "/results.sqlite", head.sweep);
  Selection selection(head.sweep, lines, most_shown);
  std::map<int, std::string> all;  // all points, unless there are too many
  for (size_t index = 0; index < lines.points(); ++index) {
    if (!lines.has(index)) continue;
    const std::string line = lines.line(index);
    const Json point = parse_json(line, fmt::format("result of point {}", index));
    merged.add(line);
    database.add(point);
    selection.add(point);
    if (lines.finished() <= most_shown) all.emplace(static_cast<int>(index), line);
  }
  merged.close();
  database.close();
  MergedSweep result;
  result.finished = lines.finished();
  result.missing = lines.missing();
  result.results =
      lines.finished() <= most_shown ? sweep_results(head.sweep, all) : selection.results();
  return result;
}

}  // namespace windtunnel
