#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "scenarios/language/configs/setting.hpp"

namespace windtunnel {
namespace {

using Text = std::optional<std::string>;

std::string without_blanks(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t end = text.find_last_not_of(' ');
  return std::string(end == text.npos ? "" : text.substr(begin, end + 1 - begin));
}

// Evaluates a function of two numbers: "4, 12288".
Text computed(std::string_view function, std::string_view arguments) {
  const std::size_t comma = arguments.find(',');
  if (comma == arguments.npos) return {};
  double first = 0;
  double second = 0;
  try {
    first = parse_quantity(without_blanks(arguments.substr(0, comma)), Dimension::number);
    second = parse_quantity(without_blanks(arguments.substr(comma + 1)), Dimension::number);
  } catch (const Error&) {
    return {};
  }
  double result = first * second;
  if (function != "multiply") {
    if (second == 0) return {};
    result = function == "divide_ceil" ? std::ceil(first / second) : std::floor(first / second);
  }
  constexpr double kMost = 1e15;
  if (std::abs(result) > kMost) return {};
  return fmt::format("{:.0f}", result);
}

class Interpolations {
 public:
  explicit Interpolations(const std::vector<Setting>& settings) {
    for (const Setting& setting : settings) values_[setting.name] = setting.value;
  }

  // Resolves the innermost values first. Nothing if a reference has no target.
  Text resolved(std::string text, const std::string& name, int depth) {
    for (int i = 0; i < kMost; ++i) {
      const std::size_t end = find_end(text);
      if (end == text.npos) return text;
      const std::size_t begin = text.rfind("${", end);
      const Text value =
          value_of(std::string_view(text).substr(begin + 2, end - begin - 2), name, depth);
      if (!value || text.size() + value->size() > kLongest) return {};
      text.replace(begin, end + 1 - begin, *value);
    }
    return {};
  }

 private:
  static constexpr int kMost = 20;  // replacements in one value
  static constexpr int kDeepest = 8;
  static constexpr std::size_t kLongest = 4096;

  // Returns the '}' of the first "${...}" that contains no other.
  static std::size_t find_end(const std::string& text) {
    const std::size_t begin = text.find("${");
    return begin == text.npos ? text.npos : text.find('}', begin);
  }

  Text value_of(std::string_view inside, const std::string& name, int depth) {
    const std::size_t colon = inside.find(':');
    if (colon == inside.npos) return value_at(without_blanks(inside), name, depth);
    const std::string_view function = inside.substr(0, colon);
    const std::string_view arguments = inside.substr(colon + 1);
    if (function == "multiply" || function == "divide_floor" || function == "divide_ceil") {
      return computed(function, arguments);
    }
    if (function == "oc.env") {
      const std::size_t comma = arguments.find(',');
      if (comma == arguments.npos) return {};
      return without_blanks(arguments.substr(comma + 1));
    }
    const bool of_environment = std::ranges::all_of(function, [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
    if (!of_environment) return {};
    return std::string(arguments);
  }

  // A path with leading dots is relative to the setting that contains it. Other paths start at the
  // top, even if the file is part of a larger configuration ("training.model.seq_length").
  Text value_at(const std::string& path, const std::string& name, int depth) {
    std::string plain =
        setting_name(path.substr(std::min(path.find_first_not_of('.'), path.size())));
    if (path.starts_with('.')) {
      std::string from = name;
      for (std::size_t i = 0; i < path.size() && path[i] == '.'; ++i) {
        from.resize(from.find('.') == from.npos ? 0 : from.rfind('.'));
      }
      return value_of_setting(from.empty() ? plain : fmt::format("{}.{}", from, plain), depth);
    }
    while (!values_.contains(plain) && plain.find('.') != plain.npos) {
      plain.erase(0, plain.find('.') + 1);
    }
    return value_of_setting(plain, depth);
  }

  Text value_of_setting(const std::string& name, int depth) {
    const auto found = values_.find(name);
    if (found == values_.end() || depth >= kDeepest || --left_ < 0) return {};
    return resolved(found->second, name, depth + 1);
  }

  std::map<std::string, std::string> values_;
  int left_ = 10'000;  // look-ups: nested references can grow exponentially
};

}  // namespace

std::vector<Setting> with_interpolations(std::vector<Setting> settings) {
  const bool any = std::ranges::any_of(settings, [](const Setting& setting) {
    return setting.value.find("${") != std::string::npos;
  });
  if (!any) return settings;
  Interpolations values(settings);
  for (Setting& setting : settings) {
    if (const Text value = values.resolved(setting.value, setting.name, 0)) setting.value = *value;
  }
  return settings;
}

}  // namespace windtunnel
