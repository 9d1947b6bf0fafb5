// A merged sweep: its document, its SQLite table and what the console says about it.
#pragma once

#include <map>
#include <string>

#include "report/console/console.hpp"
#include "report/store/sweep_store.hpp"

namespace windtunnel {

struct SweepResults {
  SweepPlan plan;
  std::vector<Json> points;  // the lines, by index; without those that are missing
  // {"format", "scenario", "job", "vary": [{"key", "values", "numbers"}], "points": [{"index",
  // "set", "iteration", "result" | "reason"}], "best": {"index", "set", "goodput", "runner_up":
  // {"index", "set", "difference": {"mean", "low", "high"}, "by"} | null, "equals": [index],
  // "stands_out"} | null, "best_by": [likewise], "trials": "100", "cost_models": [text],
  // "source"}: see sweep_ranking.hpp. "numbers": in base units, null where values are
  // none.
  Json document;
};

SweepResults sweep_results(const SweepPlan& plan, const std::map<int, std::string>& lines);

// results.jsonl
std::string results_text(const std::map<int, std::string>& lines);

// results.sqlite: a table `points` with a row each, of which numbers are in base units, a table
// `varied` with key and unit, and a table `figures` that says what the columns of results are.
void write_results_sqlite(const std::string& path, const SweepResults& results);

// Table of the points, or of the best of many; the best and how surely; what is infeasible and why.
std::string sweep_text(const SweepResults& results, const ConsoleStyle& style = {});

// Indices as a person writes them: "3, 7-9, 12".
std::string ranges_text(const std::vector<int>& indices);

}  // namespace windtunnel
