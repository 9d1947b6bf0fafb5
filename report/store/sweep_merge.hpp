// Merges a sweep of any size. Its lines go one by one into results.jsonl and results.sqlite; two
// numbers and a place of each point stay in memory. The document, from which the page is drawn,
// contains all points of a sweep of up to kMostShown. For a larger sweep it contains
//   - the best points, the last one and the fastest iteration;
//   - points that differ from the best in one key alone, the nearest first;
//   - for each circumstance (at most kMostCircumstances, evenly over the grid) the best and its
//     neighbours;
//   - a point for each reason for infeasible points, up to 100 reasons;
// and "left_out" counts the omitted ones: {"ran", "infeasible", "circumstances"}. The best point,
// the runner-up and their difference still cover all points; "equals" covers only the points that
// were compared with the best.
#pragma once

#include <string>
#include <vector>

#include "report/store/sweep_lines.hpp"
#include "report/store/sweep_results.hpp"

namespace windtunnel {

constexpr size_t kMostShown = 5000;
constexpr size_t kMostCircumstances = 1000;

struct MergedSweep {
  SweepResults results;
  size_t finished = 0;
  std::vector<int> missing;
};

// Writes results.jsonl and results.sqlite into the folder. Throws Error as SweepLines does, and
// (failed) if it cannot write.
MergedSweep merge_lines(const std::string& folder, const SweepHead& head,
                        size_t most_shown = kMostShown);

}  // namespace windtunnel
