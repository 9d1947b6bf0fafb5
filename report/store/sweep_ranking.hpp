// Which point of a sweep is the best, and how surely.
//
// The best point is the one with the most training done per time: the mean goodput, where points
// differ in the iteration itself weighted by its tokens per second against the fastest one. The
// same random numbers at every point make differences between points much surer than their own
// intervals: the runner-up comes with the interval of the difference trial by trial.
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
// What a point varies, as the command line writes it.
std::string set_text(const Json& set);

// Which value of each key a point has, by its place in the grid.
std::vector<size_t> places_of(const Sweep& sweep, size_t index);
size_t index_at(const Sweep& sweep, const std::vector<size_t>& places);  // and back

// Failures come as they come; all other keys are the user's choice.
bool is_circumstance(std::string_view key);
bool offers_choices(const Sweep& sweep);

// Values of a key, from the least to the most, that are as good as the best (is_as_good()) where
// all other keys are the best point's.
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

  // How much more the point in the first place gets done than the one in another, in shares of the
  // wall time at the speed of the fastest iteration.
  Estimate lead_over(size_t place) const;
  // Nothing: no other value of the key is as good, or it has no numbers, or nobody chooses it.
  std::optional<AsGood> as_good(const VariedKey& key) const;
  // What that is a difference of.
  std::string_view measure_of(size_t place) const;

 private:
  double speed(const Json& point) const;
  std::vector<double> progress(const Json& point) const;

  double fastest_ = 0;
  std::vector<const Json*> order_;
};

// {"index", "set", "goodput", "runner_up": {"index", "set", "difference", "by"} | null, "as_good":
// [AsGood], "equals": [index], "stands_out"}; null: no result. Equals are those that it has no gain
// over (is_gain()); it stands out unless all are. The difference is one of goodput, or where the
// iterations of the two differ of progress: "by" says which.
Json best_point(const Sweep& sweep, const std::vector<Json>& points);
// The entry of that key in its "as_good", or null.
const Json* as_good_of(const Json& best, const std::string& key);

// The best point at every combination of the circumstances, in the grid's order. Empty unless the
// sweep varies both circumstances and choices.
Json best_by_circumstance(const Sweep& sweep, const std::vector<Json>& points);

// Points without a result, together with all that have the same reason: most of a grid often fails
// for one.
std::vector<std::pair<std::string, std::vector<const Json*>>> infeasible_points(const Json& points);

// The second best and how far behind it is, in words: the paired difference over the same failures
// tells two points apart whose intervals overlap.
std::string runner_up_text(const Json& runner_up);

// What is best at each value of the circumstances, which stand first; of a sweep's document.
TextTable best_by_table(const Json& document);

}  // namespace windtunnel
