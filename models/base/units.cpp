#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/text_form.hpp"
#include "models/base/unit_names.hpp"

namespace windtunnel {
namespace {

// Whole seconds.
constexpr std::int64_t kDay = 86400;
constexpr std::int64_t kYear = 36525 * kDay / 100;  // of 365.25 days

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
  // One unit is `many` / `parts` base units, both integers, so that equal quantities in different
  // units give the same double.
  std::int64_t many;
  bool printed = true;  // a candidate of format_quantity; the others are second spellings
  std::int64_t parts = 1;
  double factor() const { return static_cast<double>(many) / static_cast<double>(parts); }
};

// Units ascend within each dimension. The longer spelling of a unit is a separate row.
constexpr std::array kUnits{
    Unit{"K", Dimension::count, 1000},
    Unit{"k", Dimension::count, 1000, false},
    Unit{"M", Dimension::count, 1'000'000},
    Unit{"B", Dimension::count, 1'000'000'000},
    Unit{"G", Dimension::count, 1'000'000'000, false},
    Unit{"T", Dimension::count, 1'000'000'000'000},

    Unit{"B", Dimension::bytes, 1},
    Unit{"kB", Dimension::bytes, 1000},
    Unit{"KB", Dimension::bytes, 1000, false},
    Unit{"KiB", Dimension::bytes, 1024, false},
    Unit{"MB", Dimension::bytes, 1'000'000},
    Unit{"MiB", Dimension::bytes, 1'048'576, false},
    Unit{"GB", Dimension::bytes, 1'000'000'000},
    Unit{"GiB", Dimension::bytes, 1'073'741'824, false},
    Unit{"TB", Dimension::bytes, 1'000'000'000'000},
    Unit{"TiB", Dimension::bytes, 1'099'511'627'776, false},
    Unit{"PB", Dimension::bytes, 1'000'000'000'000'000},

    Unit{"B/s", Dimension::bytes_per_s, 1},
    Unit{"kB/s", Dimension::bytes_per_s, 1000},
    Unit{"KB/s", Dimension::bytes_per_s, 1000, false},
    Unit{"MB/s", Dimension::bytes_per_s, 1'000'000},
    Unit{"MiB/s", Dimension::bytes_per_s, 1'048'576, false},
    Unit{"GB/s", Dimension::bytes_per_s, 1'000'000'000},
    Unit{"GiB/s", Dimension::bytes_per_s, 1'073'741'824, false},
    Unit{"TB/s", Dimension::bytes_per_s, 1'000'000'000'000},
    Unit{"Mb/s", Dimension::bytes_per_s, 125'000, false},
    Unit{"Gb/s", Dimension::bytes_per_s, 125'000'000, false},
    Unit{"Tb/s", Dimension::bytes_per_s, 125'000'000'000, false},

    Unit{"FLOP/s", Dimension::flops_per_s, 1},
    Unit{"GFLOP/s", Dimension::flops_per_s, 1'000'000'000},
    Unit{"TFLOP/s", Dimension::flops_per_s, 1'000'000'000'000},
    Unit{"PFLOP/s", Dimension::flops_per_s, 1'000'000'000'000'000},

    Unit{"ns", Dimension::seconds, 1, true, 1'000'000'000},
    Unit{"us", Dimension::seconds, 1, true, 1'000'000},
    Unit{"µs", Dimension::seconds, 1, false, 1'000'000},
    Unit{"ms", Dimension::seconds, 1, true, 1000},
    Unit{"s", Dimension::seconds, 1},
    Unit{"min", Dimension::seconds, 60},
    Unit{"h", Dimension::seconds, 3600},
    Unit{"d", Dimension::seconds, kDay},
    Unit{"y", Dimension::seconds, kYear, false},

    Unit{"per 1000 node-days", Dimension::per_node_s, 1, true, 1000 * kDay},
    Unit{"per 1000 node-hours", Dimension::per_node_s, 1, false, 3'600'000},
    Unit{"per node-year", Dimension::per_node_s, 1, false, kYear},
    Unit{"per node-day", Dimension::per_node_s, 1, false, kDay},
    Unit{"per node-hour", Dimension::per_node_s, 1, false, 3600},

    Unit{"per year", Dimension::per_s, 1, false, kYear},
    Unit{"per week", Dimension::per_s, 1, false, 7 * kDay},
    Unit{"per day", Dimension::per_s, 1, true, kDay},
    Unit{"per hour", Dimension::per_s, 1, false, 3600},

    Unit{"USD per gpu-hour", Dimension::usd_per_gpu_s, 1, true, 3600},
    Unit{"USD/gpu-hour", Dimension::usd_per_gpu_s, 1, false, 3600},
    Unit{"USD per gpu-day", Dimension::usd_per_gpu_s, 1, false, kDay},

    Unit{"iterations", Dimension::iterations, 1},
    Unit{"iteration", Dimension::iterations, 1, false},
    Unit{"steps", Dimension::iterations, 1, false},
    Unit{"step", Dimension::iterations, 1, false},
};

const DimensionText& text_of(Dimension dimension) {
  for (const DimensionText& row : kDimensions) {
    if (row.dimension == dimension) return row;
  }
  fail_check("dimension is listed", __FILE__, __LINE__, "a dimension without text");
}

// Removes spaces at the ends, and makes others single.
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

// The number that `text` states in a unit, which from_chars has read. It is rounded once, at the
// end, so that two spellings of one quantity give the same double.
double in_base_units(std::string_view text, const Unit& unit) {
  using boost::multiprecision::cpp_int;
  const std::size_t exponent = text.find_first_of("eE");
  // An exponent beyond int leaves it 0: from_chars has then read the number as 0, or failed.
  int power = 0;
  if (exponent != text.npos) {
    const std::size_t from = exponent + (text[exponent + 1] == '+' ? 2 : 1);
    std::from_chars(text.data() + from, text.data() + text.size(), power);
  }
  cpp_int digits = 0;
  bool behind_point = false;
  for (const char c : text.substr(0, exponent)) {
    if (c >= '0' && c <= '9') {
      digits = digits * 10 + (c - '0');
      power -= behind_point;
    }
    behind_point |= c == '.';
  }
  if (digits == 0) return 0;
  const cpp_int shift = pow(cpp_int(10), std::abs(power));
  const cpp_int many = digits * unit.many * (power > 0 ? shift : 1);
  const cpp_int parts = unit.parts * (power < 0 ? shift : 1);
  const auto value = boost::multiprecision::cpp_rational(many, parts).convert_to<double>();
  return text.starts_with('-') ? -value : value;
}

std::string due(Dimension dimension) {
  const DimensionText& text = text_of(dimension);
  return fmt::format("expected {}, e.g. '{}'", text.noun, text.example);
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

// Other programs' spellings of units, each with the spelling that this program accepts.
constexpr std::pair<std::string_view, std::string_view> kOtherSpellings[] = {
    {"Gbit/s", "Gb/s"}, {"Gbps", "Gb/s"}, {"Mbit/s", "Mb/s"}, {"Mbps", "Mb/s"}};

[[noreturn]] void fail_unit(const std::string& text, const std::string& unit, Dimension dimension) {
  for (const Unit& other : kUnits) {
    if (other.name == unit) {
      throw Error(
          fmt::format("'{}' is {}; {}", text, text_of(other.dimension).noun, due(dimension)));
    }
  }
  std::vector<std::string> known = units_of(dimension);
  for (const auto& [other, ours] : kOtherSpellings) {
    const std::string name(ours);
    if (other == unit && std::ranges::find(known, name) != known.end()) known = {name};
  }
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
    if (!required && size < unit.factor() * (1 - 1e-12)) break;
    name = unit.name;
    factor = unit.factor();
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
  const double value = in_base_units(std::string_view(text.data(), rest), *known);
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

bool is_unit_name(std::string_view word) {
  return word == "%" || std::ranges::any_of(kUnits, [&](const Unit& unit) {
           return !unit.name.empty() && unit.name == word;
         });
}

}  // namespace windtunnel
