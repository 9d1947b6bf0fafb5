#include "models/base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/text_form.hpp"

namespace windtunnel {
namespace {

constexpr double kYear = 365.25 * kDay_s;

struct DimensionText {
  Dimension dimension;
  std::string_view noun;
  std::string_view example;
};

constexpr std::array kDimensions{
    DimensionText{Dimension::number, "a plain number", "0.5"},
    DimensionText{Dimension::count, "a count", "15.6 T"},
    DimensionText{Dimension::bytes, "a size in bytes", "25 MB"},
    DimensionText{Dimension::bytes_per_s, "a data rate", "2 TB/s"},
    DimensionText{Dimension::flops_per_s, "a compute rate", "989.4 TFLOP/s"},
    DimensionText{Dimension::seconds, "a time", "30 s"},
    DimensionText{Dimension::per_node_s, "a failure rate", "3.24 per 1000 node-days"},
    DimensionText{Dimension::per_s, "a rate of the whole job", "0.5 per day"},
    DimensionText{Dimension::usd_per_gpu_s, "a price", "2 USD per gpu-hour"},
    DimensionText{Dimension::iterations, "a number of iterations", "10 iterations"},
};

struct Unit {
  std::string_view name;
  Dimension dimension;
  double factor;        // value in base units of one
  bool printed = true;  // a candidate of format_quantity; the others are second spellings
};

// Per dimension in ascending order. The longer spelling of a unit is a row of its own.
constexpr std::array kUnits{
    Unit{"K", Dimension::count, 1e3},
    Unit{"k", Dimension::count, 1e3, false},
    Unit{"M", Dimension::count, 1e6},
    Unit{"B", Dimension::count, 1e9},
    Unit{"G", Dimension::count, 1e9, false},
    Unit{"T", Dimension::count, 1e12},

    Unit{"B", Dimension::bytes, 1},
    Unit{"kB", Dimension::bytes, 1e3},
    Unit{"KB", Dimension::bytes, 1e3, false},
    Unit{"KiB", Dimension::bytes, 1024.0, false},
    Unit{"MB", Dimension::bytes, 1e6},
    Unit{"MiB", Dimension::bytes, 1048576.0, false},
    Unit{"GB", Dimension::bytes, 1e9},
    Unit{"GiB", Dimension::bytes, 1073741824.0, false},
    Unit{"TB", Dimension::bytes, 1e12},
    Unit{"TiB", Dimension::bytes, 1099511627776.0, false},
    Unit{"PB", Dimension::bytes, 1e15},

    Unit{"B/s", Dimension::bytes_per_s, 1},
    Unit{"kB/s", Dimension::bytes_per_s, 1e3},
    Unit{"KB/s", Dimension::bytes_per_s, 1e3, false},
    Unit{"MB/s", Dimension::bytes_per_s, 1e6},
    Unit{"MiB/s", Dimension::bytes_per_s, 1048576.0, false},
    Unit{"GB/s", Dimension::bytes_per_s, 1e9},
    Unit{"GiB/s", Dimension::bytes_per_s, 1073741824.0, false},
    Unit{"TB/s", Dimension::bytes_per_s, 1e12},
    Unit{"Mb/s", Dimension::bytes_per_s, 1e6 / 8, false},
    Unit{"Gb/s", Dimension::bytes_per_s, 1e9 / 8, false},
    Unit{"Tb/s", Dimension::bytes_per_s, 1e12 / 8, false},

    Unit{"FLOP/s", Dimension::flops_per_s, 1},
    Unit{"GFLOP/s", Dimension::flops_per_s, 1e9},
    Unit{"TFLOP/s", Dimension::flops_per_s, 1e12},
    Unit{"PFLOP/s", Dimension::flops_per_s, 1e15},

    Unit{"ns", Dimension::seconds, 1e-9},
    Unit{"us", Dimension::seconds, 1e-6},
    Unit{"µs", Dimension::seconds, 1e-6, false},
    Unit{"ms", Dimension::seconds, 1e-3},
    Unit{"s", Dimension::seconds, 1},
    Unit{"min", Dimension::seconds, kMinute_s},
    Unit{"h", Dimension::seconds, kHour_s},
    Unit{"d", Dimension::seconds, kDay_s},

    Unit{"per 1000 node-days", Dimension::per_node_s, 1e-3 / kDay_s},
    Unit{"per 1000 node-hours", Dimension::per_node_s, 1e-3 / kHour_s, false},
    Unit{"per node-year", Dimension::per_node_s, 1 / kYear, false},
    Unit{"per node-day", Dimension::per_node_s, 1 / kDay_s, false},
    Unit{"per node-hour", Dimension::per_node_s, 1 / kHour_s, false},

    Unit{"per year", Dimension::per_s, 1 / kYear, false},
    Unit{"per week", Dimension::per_s, 1 / (7 * kDay_s), false},
    Unit{"per day", Dimension::per_s, 1 / kDay_s},
    Unit{"per hour", Dimension::per_s, 1 / kHour_s, false},

    Unit{"USD per gpu-hour", Dimension::usd_per_gpu_s, 1 / kHour_s},
    Unit{"USD/gpu-hour", Dimension::usd_per_gpu_s, 1 / kHour_s, false},
    Unit{"USD per gpu-day", Dimension::usd_per_gpu_s, 1 / kDay_s, false},

    Unit{"iterations", Dimension::iterations, 1},
    Unit{"iteration", Dimension::iterations, 1, false},
};

const DimensionText& text_of(Dimension dimension) {
  for (const DimensionText& row : kDimensions) {
    if (row.dimension == dimension) return row;
  }
  fail_check("dimension is listed", __FILE__, __LINE__, "a dimension without text");
}

// Without spaces at the ends, and with single spaces inside.
std::string normalise_spaces(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

std::string due(Dimension dimension) {
  const DimensionText& text = text_of(dimension);
  return fmt::format("{} is due, e.g. '{}'", text.noun, text.example);
}

const Unit* find_unit(std::string_view name, Dimension dimension) {
  for (const Unit& unit : kUnits) {
    if (unit.dimension == dimension && unit.name == name) return &unit;
  }
  return nullptr;
}

[[noreturn]] void fail_range(const std::string& text, Dimension dimension) {
  throw Error(fmt::format("'{}' is beyond the range of a number; {}", text, due(dimension)));
}

[[noreturn]] void fail_unit(const std::string& text, const std::string& unit, Dimension dimension) {
  for (const Unit& other : kUnits) {
    if (other.name == unit) {
      throw Error(
          fmt::format("'{}' is {}; {}", text, text_of(other.dimension).noun, due(dimension)));
    }
  }
  const std::vector<std::string> known = units_of(dimension);
  if (known.empty())
    throw Error(fmt::format("'{}' is not a plain number; {}", text, due(dimension)));
  throw Error(
      fmt::format("'{}': {} ({})", text, unknown_name("unit", unit, known), due(dimension)));
}

// The largest unit that leaves at least 1 of `value`, else the smallest; a count may have none.
double printed_factor(double value, Dimension dimension, std::string_view& name) {
  const double size = value == 0 ? 1 : std::abs(value);  // 0 is written in the base unit
  double factor = 1;
  for (const Unit& unit : kUnits) {
    if (unit.dimension != dimension || !unit.printed) continue;
    const bool required = name.empty() && dimension != Dimension::count;
    // 1e-12 of slack, so that 1e-6 s, which is not a whole number of binary steps, is 1 us.
    if (!required && size < unit.factor * (1 - 1e-12)) break;
    name = unit.name;
    factor = unit.factor;
  }
  return factor;
}

}  // namespace

std::string_view example_of(Dimension dimension) {
  return text_of(dimension).example;
}

std::string_view noun_of(Dimension dimension) {
  return text_of(dimension).noun;
}

std::vector<std::string> units_of(Dimension dimension) {
  std::vector<std::string> names;
  for (const Unit& unit : kUnits) {
    if (unit.dimension == dimension) names.emplace_back(unit.name);
  }
  return names;
}

double parse_quantity(std::string_view raw, Dimension dimension) {
  const std::string text = normalise_spaces(raw);
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, number);
  if (status == std::errc::result_out_of_range) fail_range(text, dimension);
  if (status != std::errc() || !std::isfinite(number)) {
    throw Error(fmt::format("'{}' is not a number; {}", text, due(dimension)));
  }
  const std::string unit = normalise_spaces(std::string_view(rest, end - rest));
  if (unit.empty()) {
    if (dimension == Dimension::number || dimension == Dimension::count) return number;
    throw Error(fmt::format("'{}' has no unit; {}", text, due(dimension)));
  }
  const Unit* known = find_unit(unit, dimension);
  if (known == nullptr) fail_unit(text, unit, dimension);
  const double value = number * known->factor;
  if (!std::isfinite(value)) fail_range(text, dimension);
  return value;
}

std::string format_quantity(double value, Dimension dimension) {
  std::string_view unit;
  const double factor = printed_factor(value, dimension, unit);
  return fmt::format("{:.12g}{}{}", value / factor, unit.empty() ? "" : " ", unit);
}

std::string format_seconds(double seconds) {
  return format_value(seconds, kDurationForm);
}

std::string format_bytes(double bytes) {
  return format_value(bytes, kBytesForm);
}

std::string format_memory(double bytes) {
  return format_value(bytes, kMemoryForm);
}

std::string format_bandwidth(double bytes_per_s) {
  return format_bytes(bytes_per_s) + "/s";
}

std::string format_count(double count) {
  return format_value(count, kCountForm);
}

std::string format_percent(double share) {
  return format_value(share, kPercentForm);
}

}  // namespace windtunnel
