// The smallest and largest value allowed for each dimension: far beyond what exists, but within
// what arithmetic, clocks and simulated time can handle. Rows of the field table and of the
// library's keys may narrow it.
#pragma once

#include <string>

#include "models/base/units.hpp"

namespace windtunnel {

struct QuantityRange {
  double smallest = 0;  // among values other than 0
  double largest = 0;

  // 0 is allowed. A negative number is checked by its absolute value; each row decides whether it
  // allows 0 and negative numbers.
  bool holds(double value) const;
};

// The range is in base units.
const QuantityRange& quantity_range(Dimension dimension);

// "1 B/s to 1000000 TB/s"
std::string range_text(const QuantityRange& range, Dimension dimension);

// parse_quantity() with a check of the dimension's range: throws Error that names the range.
double parse_in_range(std::string_view text, Dimension dimension);

}  // namespace windtunnel
