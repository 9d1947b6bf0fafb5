// This is a merged sweep: its document, its SQLite table and its summary on the console.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/console/console.hpp"
#include "report/store/sweep_store.hpp"

namespace windtunnel {

struct SweepResults {
  Sweep sweep;
  // {"format", "scenario", "job", "vary": [{"key", "values", "numbers"}], "points": [{"index",
  // "set", "iteration", "result" | "reason"}], "best": {"index", "set", "goodput", "runner_up":
  // {"index", "set", "difference": {"mean", "low", "high"}, "by"} | null, "equals": [index],
  // "stands_out"} | null, "best_by": [entries like "best"], "trials": "100", "cost_models": [text],
  // "source"}: see sweep_ranking.hpp. "numbers" are in base units, or null if values are not
  // numbers. A sweep with too many points has "left_out" after "points": see sweep_merge.hpp.
  Json document;

  // The document's points, by index.
  const std::vector<Json>& points() const {
    return document.at("points").get_ref<const Json::array_t&>();
  }
};

// This is the best point of all, and under each of the circumstances.
struct SweepBests {
  Json best;
  Json best_by;
};
SweepBests bests_among(const Sweep& sweep, const std::vector<Json>& points);

// `lines`: finished points by index. `bests`: from all points if `lines` has only some; missing:
// from `lines`.
SweepResults sweep_results(const Sweep& sweep, const std::map<int, std::string>& lines,
                           const std::optional<SweepBests>& bests = {});

// How many points the document omits; `part` is "ran" or "infeasible".
size_t left_out(const Json& document, const char* part);

// Table of the points, or of the best ones if there are many; the best and how certain it is;
// infeasible points with their reasons.
std::string sweep_text(const SweepResults& results, const ConsoleStyle& style = {});

// Indices in a readable form, "3, 7-9, 12"; if there are many, only the first.
std::string ranges_text(const std::vector<int>& indices);

}  // namespace windtunnel
