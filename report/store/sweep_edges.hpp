// Where the best point of a sweep stands on the edge of its grid: what is best may lie beyond.
#pragma once

#include <string>
#include <vector>

#include "report/json/json.hpp"

namespace windtunnel {

// A key of numbers whose best value is the smallest or the largest that was tried, while the next
// one is worse and the key takes values beyond.
struct SweepEdge {
  std::string key;
  std::string value;  // as the command line has it
  bool least = false;
  std::string under;  // the first circumstances in which it is so; empty: none are varied
};

// Of a sweep's document: of the best point, or of those under each of its circumstances; each edge
// once. Of keys with fewer than three values, and of
// circumstances, which nobody chooses, none.
std::vector<SweepEdge> edges_of_best(const Json& document);

// "the best snapshots.0.every, 4 h, is the largest of those tried: ..."
std::string edge_text(const SweepEdge& edge);

}  // namespace windtunnel
