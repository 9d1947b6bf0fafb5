// One builder per type of row of the field table, so that a row shows only what is particular to
// it.
#pragma once

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/fields.hpp"

namespace windtunnel {

using Rows = std::vector<Field>;

// The parts of the table that have a file of their own.
Rows cluster_rows();  // "cluster" and all below it
Rows fabric_rows();
Rows communication_rows();
Rows context_rows();         // forms of "layout.cp" and "layout.ep"
Rows length_rows();          // "batch.lengths", and who computes which
Rows shard_rows();           // what "layout.sharding" divides among whom
Rows tensor_overlap_rows();  // "software.tp_overlap"
Rows routing_rows();         // "model.moe": where its tokens go
Rows compressor_rows();      // "communication.compressor"
Rows campaign_rows();        // snapshots, failures, recovery, job, campaign
Rows snapshot_rows();
Rows recovery_rows();

// Where a table of what notices failures stands; the paths outlive the rows.
struct DetectionPaths {
  std::string_view self, heartbeat, misses, timeout, watchdog;
};
Rows detection_rows(const DetectionPaths& paths);

inline Rows joined(const std::vector<Rows>& parts) {
  Rows all;
  for (const Rows& rows : parts) all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

template <class Items>
std::vector<std::string> names_in(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.emplace_back(item.name);
  return names;
}

inline Field map_row(std::string_view path, Field row) {
  row.path = path;
  row.map = true;
  return row;
}

inline Field list_row(std::string_view path, Field row) {
  row.path = path;
  row.list = true;
  return row;
}

inline Field text_row(std::string_view path, Field row) {
  row.path = path;
  row.scalar = ScalarType::text;
  return row;
}

inline Field name_row(std::string_view path, Field row) {
  row.path = path;
  row.scalar = ScalarType::name;
  return row;
}

inline Field flag_row(std::string_view path, Field row) {
  row.path = path;
  row.scalar = ScalarType::boolean;
  return row;
}

// A whole number that fits an int unless the row says otherwise.
inline Field whole_row(std::string_view path, Field row) {
  row.path = path;
  row.scalar = ScalarType::integer;
  row.low = std::max(row.low, static_cast<double>(std::numeric_limits<int>::lowest()));
  if (row.high > 1e300) row.high = std::numeric_limits<int>::max();
  return row;
}

// A number about the world.
inline Field fact_row(std::string_view path, Dimension dimension, Field row) {
  row.path = path;
  row.scalar = ScalarType::quantity;
  row.dimension = dimension;
  row.fact = true;
  return row;
}

// A number that the user chooses.
inline Field choice_row(std::string_view path, Dimension dimension, Field row) {
  row = fact_row(path, dimension, std::move(row));
  row.fact = false;
  return row;
}

inline constexpr double kLongest_s = 100 * 365 * 86400.0;  // 100 years, of all durations

inline Field duration_row(std::string_view path, Field row) {
  row = fact_row(path, Dimension::seconds, std::move(row));
  row.low = 0;
  row.high = kLongest_s;
  return row;
}

// From 1 byte to 1 exabyte a second: a link without bandwidth would never finish.
inline Field bandwidth_row(std::string_view path, Field row) {
  row = fact_row(path, Dimension::bytes_per_s, std::move(row));
  row.low = 1;
  row.high = 1e18;
  return row;
}

}  // namespace windtunnel
