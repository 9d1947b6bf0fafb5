// A merged sweep: its document, its SQLite table and what the console says about it.
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
  std::vector<Json> points;  // the lines, by index; without those that are missing or left out
  // {"format", "scenario", "job", "vary": [{"key", "values", "numbers"}], "points": [{"index",
  // "set", "iteration", "result" | "reason"}], "best": {"index", "set", "goodput", "runner_up":
  // {"index", "set", "difference": {"mean", "low", "high"}, "by"} | null, "equals": [index],
  // "stands_out"} | null, "best_by": [likewise], "trials": "100", "cost_models": [text],
  // "source"}: see sweep_ranking.hpp. "numbers": in base units, null where values are
  // none. Of a sweep too large for it "left_out", behind "points": see sweep_merge.hpp.
  Json document;
};

// What is best of all points, and under each circumstance.
struct SweepBests {
  Json best;
  Json best_by;
};
SweepBests bests_among(const Sweep& sweep, const std::vector<Json>& points);

// `lines` of finished points by index; `bests` of more points than these, else of these.
SweepResults sweep_results(const Sweep& sweep, const std::map<int, std::string>& lines,
                           const std::optional<SweepBests>& bests = {});

// How many points the document leaves out: of its parts "ran" and "infeasible".
size_t left_out(const Json& document, const char* part);

// Table of the points, or of the best of many; the best and how surely; what is infeasible and why.
std::string sweep_text(const SweepResults& results, const ConsoleStyle& style = {});

// Indices as a person writes them: "3, 7-9, 12"; of very many the first.
std::string ranges_text(const std::vector<int>& indices);

}  // namespace windtunnel
