// How small and how large a number of each dimension can be: far outside what exists, and inside
// what arithmetic, clocks and simulated time can follow. A row of the field table, or of the
// library's keys, may narrow it.
#pragma once

#include <string>

#include "models/base/units.hpp"

namespace windtunnel {

struct QuantityRange {
  double smallest = 0;  // of what is not 0
  double largest = 0;

  // 0 and negative numbers, which are for a row to refuse, are held to it by their size.
  bool holds(double value) const;
};

// In base units.
const QuantityRange& quantity_range(Dimension dimension);

// "1 B/s to 1000000 TB/s"
std::string range_text(const QuantityRange& range, Dimension dimension);

// As parse_quantity(), and inside the range of its dimension: throws Error that names the range.
double parse_in_range(std::string_view text, Dimension dimension);

}  // namespace windtunnel
