#include "cli/program/override_options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "cli/program/shell_line.hpp"
#include "models/base/error.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/fields.hpp"
#include "scenarios/language/text/values.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

std::pair<std::string, std::string> split_assignment(const std::string& option,
                                                     const std::string& argument) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(
        fmt::format("{} '{}': expected KEY=VALUE, as in {}", option, argument,
                    option == "--set" ? "--set layout.pp=8" : option + " layout.pp=4,8,16"));
  }
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

// Tracks whether a comma separates values: it does outside of quotes, brackets and braces.
class Nesting {
 public:
  bool inside() const { return quote_ != 0 || !open_.empty(); }

  // False if a closing bracket has no opening one.
  bool read(char c) {
    if (quote_ != 0) {
      if (c == quote_) quote_ = 0;
      return true;
    }
    switch (c) {
      case '\'':
      case '"':
        quote_ = c;
        return true;
      case '[':
        open_.push_back(']');
        return true;
      case '{':
        open_.push_back('}');
        return true;
      case ']':
      case '}':
        if (open_.empty() || open_.back() != c) return false;
        open_.pop_back();
        return true;
      default:
        return true;
    }
  }

 private:
  char quote_ = 0;
  std::string open_;  // expected closing brackets
};

std::vector<std::string> split_values(const std::string& option, const std::string& argument,
                                      const std::string& values) {
  std::vector<std::string> parts(1);
  Nesting nesting;
  for (const char c : values) {
    if (!nesting.read(c)) {
      throw Error(fmt::format("{} '{}': '{}' closes nothing", option, argument, c));
    }
    if (c == ',' && !nesting.inside()) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  if (nesting.inside()) {
    throw Error(fmt::format("{} '{}': a bracket or quote is not closed", option, argument));
  }
  for (std::string& part : parts) {
    part = std::string(trimmed(part));
    if (part.empty()) throw Error(fmt::format("{} '{}': a value is empty", option, argument));
  }
  return parts;
}

// Expands "all" to every name that the key knows, unless "all" is itself a name or it knows none.
std::vector<std::string> expanded(const std::string& key, std::vector<std::string> values) {
  if (values != std::vector<std::string>{"all"}) return values;
  const Field* field = find_field(key);
  if (field != nullptr && !field->shorthand.empty()) {
    field = find_field(join_path(key, field->shorthand));
  }
  if (field == nullptr) return values;
  std::vector<std::string> names = names_of(*field);
  return names.empty() || std::ranges::find(names, "all") != names.end() ? values : names;
}

// LO:HI:N gives N values spaced evenly, LO:HI:Nlog N values with equal ratios.
struct Range {
  std::string low, high;
  int count = 0;
  bool logarithmic = false;
};

constexpr int kMostValues = 100000;
constexpr double kMostPoints = 1e6;

std::optional<Range> range_of(const std::string& value) {
  const size_t first = value.find(':');
  const size_t last = value.rfind(':');
  if (first == std::string::npos || value.find(':', first + 1) != last || first == last) return {};
  Range range;
  range.low = trimmed(value.substr(0, first));
  range.high = trimmed(value.substr(first + 1, last - first - 1));
  std::string_view count = trimmed(std::string_view(value).substr(last + 1));
  if (count.ends_with("log")) {
    range.logarithmic = true;
    count = trimmed(count.substr(0, count.size() - 3));
  }
  const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), range.count);
  if (error != std::errc() || end != count.data() + count.size()) return {};
  return range;
}

// The dimension of the ends; an interval of snapshots can be in iterations or a time.
Dimension dimension_of(const Field& field, const Range& range) {
  if (field.scalar == ScalarType::integer) return Dimension::number;
  if (field.scalar == ScalarType::quantity) return field.dimension;
  return range.low.find("iteration") != std::string::npos ? Dimension::iterations
                                                          : Dimension::seconds;
}

// Rounds "6.13539094648 min" to "6.13539 min".
std::string six_digits(const std::string& quantity) {
  const size_t unit = std::min(quantity.find(' '), quantity.size());
  return fmt::format("{:.6g}{}", std::strtod(quantity.c_str(), nullptr), quantity.substr(unit));
}

std::vector<std::string> values_of(const Field& field, const Range& range) {
  const Dimension dimension = dimension_of(field, range);
  const double low = parse_quantity(range.low, dimension);
  const double high = parse_quantity(range.high, dimension);
  if (range.count < 2 || range.count > kMostValues) {
    throw Error(fmt::format("the N of LO:HI:N must be from 2 to {}", kMostValues));
  }
  if (range.logarithmic && !(low > 0 && high > 0)) {
    throw Error("equal factors need both ends above 0; leave out `log` for equal steps");
  }
  const bool whole = field.scalar == ScalarType::integer || dimension == Dimension::iterations;
  std::vector<std::string> values = {range.low};
  for (int i = 1; i < range.count; ++i) {
    const double part = double(i) / (range.count - 1);
    double value = range.logarithmic ? low * std::pow(high / low, part) : low + (high - low) * part;
    if (whole) value = std::round(value);
    std::string text = six_digits(format_quantity(value, dimension));
    if (i + 1 == range.count) text = range.high;
    const bool again = parse_quantity(text, dimension) == parse_quantity(values.back(), dimension);
    if (!again) values.push_back(std::move(text));
  }
  return values;
}

// Replaces the ranges of a numeric key by their values.
std::vector<std::string> without_ranges(const std::string& option, const std::string& argument,
                                        const std::string& key,
                                        const std::vector<std::string>& values) {
  const Field* field = find_field(key);
  const bool numbers = field != nullptr && (field->scalar == ScalarType::integer ||
                                            field->scalar == ScalarType::quantity ||
                                            field->scalar == ScalarType::interval);
  if (!numbers) return values;
  std::vector<std::string> all;
  for (const std::string& value : values) {
    const std::optional<Range> range = range_of(value);
    if (!range) {
      if (value.find(':') != std::string::npos && !value.starts_with('{')) {
        throw Error(fmt::format(
            "{} '{}': a range must have the form LO:HI:N, or LO:HI:Nlog for equal factors", option,
            argument));
      }
      all.push_back(value);
      continue;
    }
    try {
      for (std::string& each : values_of(*field, *range)) all.push_back(std::move(each));
    } catch (const Error& error) {
      throw Error(fmt::format("{} '{}': {}", option, argument, error.what()));
    }
  }
  return all;
}

}  // namespace

Overrides parse_overrides(const std::vector<std::string>& arguments) {
  Overrides overrides;
  for (const std::string& argument : arguments) {
    overrides.push_back(split_assignment("--set", argument));
  }
  return overrides;
}

namespace {

// An unknown name is a typing error rather than an infeasible point, so nothing is simulated.
void check_names(const std::string& option, const VariedKey& varied) {
  const Field* field = find_field(varied.key);
  if (field != nullptr && !field->shorthand.empty()) {
    field = find_field(join_path(varied.key, field->shorthand));
  }
  if (field == nullptr || field->scalar != ScalarType::name || field->list) return;
  for (const std::string& value : varied.values) {
    const std::string place = fmt::format("{} {}={}", option, varied.key, value);
    const DocumentNode node = parse_document(value, place, false);
    if (node.kind == DocumentNode::Kind::scalar) check_values(node, std::string(field->path));
  }
}

}  // namespace

std::vector<VariedKey> parse_varied(const std::vector<std::string>& arguments,
                                    const std::string& option) {
  std::vector<VariedKey> keys;
  double points = 1;
  for (const std::string& argument : arguments) {
    const auto assignment = split_assignment(option, argument);
    const std::string& key = assignment.first;
    if (std::any_of(keys.begin(), keys.end(), [&](const VariedKey& k) { return k.key == key; })) {
      throw Error(fmt::format("{} '{}': '{}' is varied twice", option, argument, key));
    }
    const std::vector<std::string> values =
        expanded(key, split_values(option, argument, assignment.second));
    keys.push_back({key, without_ranges(option, argument, key, values)});
    check_names(option, keys.back());
    points *= static_cast<double>(keys.back().values.size());
  }
  if (points > kMostPoints) {
    throw Error(fmt::format("{}: there are {:.0f} combinations; at most {:.0f} are possible",
                            option, points, kMostPoints));
  }
  return keys;
}

std::string run_line(const std::string& scenario, const std::vector<std::string>& set,
                     const Overrides& found) {
  std::string line = fmt::format("windtunnel run {}", shell_word(scenario));
  for (const std::string& each : set) line += fmt::format(" --set {}", shell_word(each));
  for (const auto& [key, value] : found) {
    line += fmt::format(" --set {}", shell_word(fmt::format("{}={}", key, value)));
  }
  return line;
}

}  // namespace windtunnel
