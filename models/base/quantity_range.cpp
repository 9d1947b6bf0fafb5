#include "models/base/quantity_range.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

struct RangeRow {
  Dimension dimension;
  QuantityRange range;
};

// A limit in another unit than the base unit is a little wider, so that it holds in every unit.
constexpr double kLess = 1 - 1e-13;
constexpr double kMore = 1 + 1e-12;

constexpr std::array kRanges{
    RangeRow{Dimension::number, {1e-9, 1e18}},
    RangeRow{Dimension::count, {1, 1e18}},
    // The lower limit allows the mean bytes per element of a kernel that moves packed bits.
    RangeRow{Dimension::bytes, {1e-3, 1e18}},
    // A link without bandwidth would never finish.
    RangeRow{Dimension::bytes_per_s, {1, 1e18}},
    RangeRow{Dimension::flops_per_s, {1e6, 1e18}},
    // Times reach from 1 ps to a century.
    RangeRow{Dimension::seconds, {1e-12 * kLess, 100 * 365 * kDay_s}},
    RangeRow{Dimension::per_node_s, {1e-9 / 1000 / kDay_s * kLess, 1e3}},
    RangeRow{Dimension::per_s, {1e-9 / kDay_s * kLess, 1e3}},
    RangeRow{Dimension::usd_per_gpu_s, {1e-9 / kHour_s * kLess, 1e6 / kHour_s* kMore}},
    RangeRow{Dimension::iterations, {1, 1e9}},
};

}  // namespace

bool QuantityRange::holds(double value) const {
  const double size = std::abs(value);
  return size == 0 || (size >= smallest && size <= largest);
}

const QuantityRange& quantity_range(Dimension dimension) {
  for (const RangeRow& row : kRanges) {
    if (row.dimension == dimension) return row.range;
  }
  fail_check("dimension has a range", __FILE__, __LINE__, "a dimension without range");
}

std::string range_text(const QuantityRange& range, Dimension dimension) {
  return fmt::format("{} to {}", format_quantity(range.smallest, dimension),
                     format_quantity(range.largest, dimension));
}

double parse_in_range(std::string_view text, Dimension dimension) {
  const double value = parse_quantity(text, dimension);
  const QuantityRange& range = quantity_range(dimension);
  if (range.holds(value)) return value;
  throw Error(fmt::format("'{}' is outside of the range of {}: {}{}", text, noun_of(dimension),
                          std::abs(value) < range.smallest ? "0, or " : "",
                          range_text(range, dimension)));
}

}  // namespace windtunnel
