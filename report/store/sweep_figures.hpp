// Figures of a sweep's points: the columns of its table on console and page, and of its database.
// Points are lines of results.jsonl, which keep part of the run document's `iteration`, and its
// `campaign` as `result`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/units.hpp"
#include "report/figures/figures.hpp"
#include "report/json/json.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

// A number at a figure's key: `part` ("mean", "low", ...) of an estimate, or a plain number as
// "mean". Nothing if the point does not have it.
std::optional<double> number_at(const Json& point, std::string_view key,
                                std::string_view part = "mean");
std::string text_at(const Json& point, std::string_view key);   // empty if there is no number
std::string range_at(const Json& point, std::string_view key);  // of an estimate
std::string range_of(Unit unit, const Json& estimate);

// The figures that can differ between points. The first one ranks them.
const std::vector<std::string>& sweep_keys();

struct SweepColumn {
  std::string title;
  std::string key;
  bool interval = false;  // shows the interval instead of the mean
  std::string text(const Json& point) const {
    return interval ? range_at(point, key) : text_at(point, key);
  }
};
// Omits columns in which every point is empty or 0.
std::vector<SweepColumn> sweep_columns(const std::vector<const Json*>& points);

// Columns of the database.
struct StoredColumn {
  std::string name;
  std::string key;
  std::string part = "mean";
};
const std::vector<StoredColumn>& stored_columns();

// The varied keys of a comparison or a sweep, for pages and tables: their texts and, if all values
// of a key are numbers of one dimension, the numbers.

struct KeyNumbers {
  Dimension dimension = Dimension::number;
  std::vector<double> values;  // in base units
};
// Nothing if a value is a word.
std::optional<KeyNumbers> numbers_of(const VariedKey& key);

// The document is [{"key", "values": texts, "numbers": in base units or null}]
Json varied_keys_json(const std::vector<VariedKey>& keys);

}  // namespace windtunnel
