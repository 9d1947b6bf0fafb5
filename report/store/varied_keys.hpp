// The varied keys of a comparison or a sweep, for pages and tables: their texts and, if all values
// of a key are numbers of one dimension, the numbers.
#pragma once

#include <optional>
#include <vector>

#include "models/base/units.hpp"
#include "report/json/json.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

struct KeyNumbers {
  Dimension dimension = Dimension::number;
  std::vector<double> values;  // in base units
};
// Nothing if a value is a word.
std::optional<KeyNumbers> numbers_of(const VariedKey& key);

// The document is [{"key", "values": texts, "numbers": in base units or null}]
Json varied_keys_json(const std::vector<VariedKey>& keys);

}  // namespace windtunnel
