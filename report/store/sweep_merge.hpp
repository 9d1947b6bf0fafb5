// Merging a sweep of any size: its lines go one by one into results.jsonl and results.sqlite, and
// of each point two numbers and its place stay in memory. The document, of which the page is drawn,
// holds all points of a sweep of up to kMostShown. Of a larger one it holds
//   - the best points, the last one and the fastest iteration;
//   - those that differ from the best in one key alone, the nearest ones first;
//   - for each circumstance (of kMostCircumstances at most, evenly over the grid) the best and its
//     neighbours;
//   - a point for each reason why points cannot be, of up to 100;
// and says under "left_out" how many are not there: {"ran", "infeasible", "circumstances"}. What is
// best, the runner-up and by how much are of all points all the same; "equals" then is of the
// points that the comparison was made among.
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
// (failed) where it cannot write.
MergedSweep merge_lines(const std::string& folder, const SweepHead& head,
                        size_t most_shown = kMostShown);

}  // namespace windtunnel
