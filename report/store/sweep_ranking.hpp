// Finds the best point of a sweep and how certain it is.
//
// The best point makes the most progress in training per time: the highest mean goodput, weighted
// by tokens per second relative to the fastest iteration if iterations differ. All points use the
// same random numbers, so differences between points are more certain than their own intervals; the
// runner-up comes with the interval of its difference trial by trial.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/results/campaign_report.hpp"
#include "report/store/sweep_store.hpp"
#include "report/text/table.hpp"

namespace windtunnel {

// Points are lines of results.jsonl.
bool has_result(const Json& point);
// The values that a point varies, as the command line writes them.
std::string set_text(const Json& set);

// The index of the point's value for each key, from its place in the grid.
std::vector<size_t> places_of(const Sweep& sweep, size_t index);
size_t index_at(const Sweep& sweep, const std::vector<size_t>& places);  // the reverse

// Failures are circumstances, which nobody chooses; all other keys are the user's choice.
bool is_circumstance(std::string_view key);
bool offers_choices(const Sweep& sweep);

// The range of a key's values that are as good as the best (is_as_good()) if all other keys have
// the best point's values.
struct AsGood {
  std::string key;
  std::string from;
  std::string to;
};

// Points that have a result, best first.
class SweepRanking {
 public:
  // The points must outlive it.
  explicit SweepRanking(const std::vector<Json>& points);

  size_t size() const { return order_.size(); }
  const Json& at(size_t place) const { return *order_[place]; }

  // How much more progress the first point makes than another one, as a share of the wall time at
  // the speed of the fastest iteration.
  Estimate lead_over(size_t place) const;
  // Nothing if no other value of the key is as good, or the key is not numeric, or nobody chooses
  // it.
  std::optional<AsGood> as_good(const VariedKey& key) const;
  // Names the quantity of that difference.
  std::string_view measure_of(size_t place) const;

 private:
  double speed(const Json& point) const;
  std::vector<double> progress(const Json& point) const;

  double fastest_ = 0;
  std::vector<const Json*> order_;
};

// {"index", "set", "goodput", "runner_up": {"index", "set", "difference", "by"} | null, "as_good":
// [AsGood], "equals": [index], "stands_out"}; null: there is no result. "equals" are points that
// the best has no gain over (is_gain()); it stands out unless all points are equal. "by" says
// whether the difference is one of goodput or, if the two iterations differ, of progress.
Json best_point(const Sweep& sweep, const std::vector<Json>& points);
// This is the entry of that key in "as_good" of `best`, or null.
const Json* as_good_of(const Json& best, const std::string& key);

// The best point at every combination of circumstances, in the grid's order. Empty unless the sweep
// varies both circumstances and choices.
Json best_by_circumstance(const Sweep& sweep, const std::vector<Json>& points);

// Points without a result, grouped by reason: most of a grid often fails for one reason.
std::vector<std::pair<std::string, std::vector<const Json*>>> infeasible_points(const Json& points);

// Describes the second best and its distance. The paired difference over the same failures can
// separate points whose own intervals overlap.
std::string runner_up_text(const Json& runner_up);

// The best choice at each value of the circumstances, whose columns come first, from a sweep's
// document.
TextTable best_by_table(const Json& document);

}  // namespace windtunnel
