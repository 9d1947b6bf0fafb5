// What a sweep shows of its points, by figure: the columns of its table on console and page, and
// those of its database. Points are lines of results.jsonl: of the run document a point keeps
// `iteration` in part and `campaign` as its `result`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/figures/figures.hpp"
#include "report/json/json.hpp"

namespace windtunnel {

// `part` of what stands at a figure's key: of an estimate "mean", "low", ..., of a plain number
// nothing else. Nothing where the point does not have it.
std::optional<double> number_at(const Json& point, std::string_view key,
                                std::string_view part = "mean");
std::string text_at(const Json& point, std::string_view key);   // empty where there is no number
std::string range_at(const Json& point, std::string_view key);  // of an estimate
std::string range_of(Unit unit, const Json& estimate);

// The figures that can tell points apart, the first being what they rank by.
const std::vector<std::string>& sweep_keys();

struct SweepColumn {
  std::string title;
  std::string key;
  bool interval = false;  // in place of the mean
  std::string text(const Json& point) const {
    return interval ? range_at(point, key) : text_at(point, key);
  }
};
// Without columns in which every point is empty or 0.
std::vector<SweepColumn> sweep_columns(const std::vector<const Json*>& points);

// Columns of the database.
struct StoredColumn {
  std::string name;
  std::string key;
  std::string part = "mean";
};
const std::vector<StoredColumn>& stored_columns();

}  // namespace windtunnel
