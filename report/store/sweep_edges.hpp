// Where the best point of a sweep, or of another search over values that were given, stands on the
// edge of its grid: what is best may lie beyond.
#pragma once

#include <functional>
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
// once. None of keys with fewer than three values, of those whose values are as good as the best
// (is_gain()), and of circumstances, which nobody chooses.
std::vector<SweepEdge> edges_of_best(const Json& document);

// "snapshots.1.every does not matter between 5 min and 4 h: ...", of each such key at the best.
std::vector<std::string> as_good_texts(const Json& document);

// Of one point, by its `set`; `vary` as varied_keys_json() writes it. `differs`: whether the point
// with the neighbour's value, {key: value}, is another one for what is looked for.
std::vector<SweepEdge> edges_of_point(const Json& vary, const Json& set,
                                      const std::function<bool(const Json& neighbour)>& differs);

// "the best snapshots.0.every, 4 h, is the largest of those tried: ..."; `option` gave the values.
std::string edge_text(const SweepEdge& edge, const std::string& option = "--vary");

}  // namespace windtunnel
