#include "scenarios/language/library/facts/measured_pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "scenarios/language/library/library_reader.hpp"

namespace windtunnel {
namespace {

constexpr const char* kPairsHead =
    "# How far predicted speed-ups were off in pairs of measured runs of one source that differ\n"
    "# only in `keys`, each with all keys below it (models/results/speed_up.hpp). All runs are\n"
    "# blind: no number that predicts them was fitted on them. sources: publishers with such\n"
    "# pairs; error, share: of the law, so wide that nine tenths of a publisher's pairs lie in "
    "the\n"
    "# 90 % interval that the other publishers make; spread: root mean square of the logarithms "
    "of\n"
    "# the measured ratios.\n"
    "# Written by `windtunnel validate runs FILE... --measured-pairs measured_pairs.yaml`.\n";

double number(const DocumentNode& map, const char* key) {
  return quantity(require(map, key), Dimension::number, key);
}

std::vector<std::string> keys_of(const DocumentNode& map) {
  std::vector<std::string> keys;
  for (const DocumentNode& key : require(map, "keys").items) keys.push_back(key.text);
  return keys;
}

}  // namespace

std::vector<MeasuredPairs> read_measured_pairs(const DocumentNode& document) {
  std::vector<MeasuredPairs> all;
  for (const DocumentNode& map : document.items) {
    require_map(map, "measured pairs");
    check_keys(map, {"differs", "keys", "pairs", "sources", "error", "share", "spread"});
    all.push_back({.differs = require_text(map, "differs"),
                   .keys = keys_of(map),
                   .pairs = whole(require(map, "pairs"), "pairs"),
                   .sources = whole(require(map, "sources"), "sources"),
                   .error = number(map, "error"),
                   .share = number(map, "share"),
                   .spread = number(map, "spread")});
  }
  if (all.empty() || std::ranges::find(all.back().keys, "") == all.back().keys.end()) {
    throw Error(document.where, "the last entry must be of pairs that differ in any key: [\"\"]");
  }
  return all;
}

const std::vector<MeasuredPairs>& measured_pairs() {
  static const std::vector<MeasuredPairs> pairs =
      read_measured_pairs(library_document("measured_pairs.yaml"));
  return pairs;
}

std::string measured_pairs_text(const std::vector<MeasuredPairs>& pairs) {
  std::string text = kPairsHead;
  for (const MeasuredPairs& each : pairs) {
    text += fmt::format(
        "- {{differs: {}, keys: [{}], pairs: {}, sources: {}, error: {:.3f}, share: {:.2f}, "
        "spread: {:.2f}}}\n",
        each.differs,
        fmt::join(each.keys.front().empty() ? std::vector<std::string>{"\"\""} : each.keys, ", "),
        each.pairs, each.sources, each.error, each.share, each.spread);
  }
  return text;
}

}  // namespace windtunnel
