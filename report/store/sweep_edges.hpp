// Finds keys whose best value is at the edge of the values given to a sweep or search: a better
// value may lie beyond.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/json/json.hpp"

namespace windtunnel {

// A numeric key whose best value is the smallest or the largest tried, while the value next to it
// is worse and the key allows values beyond.
struct SweepEdge {
  std::string key;
  std::string value;  // as on the command line
  bool least = false;
  std::string under;  // the first circumstances with this edge; empty: no circumstances vary
};

// Edges in a sweep's document, without repeats: of the best point, or of the best point under each
// of the circumstances. Skips keys with fewer than three values, keys whose values are all as good
// as the best (is_gain()), and circumstances, which nobody chooses.
std::vector<SweepEdge> edges_of_best(const Json& document);

// "snapshots.1.every does not matter between 5 min and 4 h: ...", for each such key at the best.
std::vector<std::string> as_good_texts(const Json& document);

// Edges of one point, given its `set`; `vary` is that of varied_keys_json(). `differs` says whether
// the point with the neighbour's value, {key: value}, gives another result.
std::vector<SweepEdge> edges_of_point(const Json& vary, const Json& set,
                                      const std::function<bool(const Json& neighbour)>& differs);

// "the best snapshots.0.every, 4 h, is the largest of those tried: ..."; the values came from
// `option`.
std::string edge_text(const SweepEdge& edge, const std::string& option = "--vary");

}  // namespace windtunnel
