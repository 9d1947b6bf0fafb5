#include "cli/overrides.hpp"

#include <algorithm>
#include <cctype>

#include "models/base/error.hpp"
#include "scenarios/fields.hpp"
#include "traces/text.hpp"

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

// Tracks whether a comma separates values: not inside of quotes, brackets or braces.
class Nesting {
 public:
  bool inside() const { return quote_ != 0 || !open_.empty(); }

  // False when a bracket closes what was not opened.
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
  std::string open_;  // closing brackets still expected
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
    throw Error(fmt::format("{} '{}': a bracket or quote is left open", option, argument));
  }
  for (std::string& part : parts) {
    part = std::string(trimmed(part));
    if (part.empty()) throw Error(fmt::format("{} '{}': a value is empty", option, argument));
  }
  return parts;
}

// Every name that the key knows; its one value, if it knows none or "all" is one of them.
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

}  // namespace

Overrides parse_overrides(const std::vector<std::string>& arguments) {
  Overrides overrides;
  for (const std::string& argument : arguments) {
    overrides.push_back(split_assignment("--set", argument));
  }
  return overrides;
}

std::vector<VariedKey> parse_varied(const std::vector<std::string>& arguments,
                                    const std::string& option) {
  std::vector<VariedKey> keys;
  for (const std::string& argument : arguments) {
    const auto assignment = split_assignment(option, argument);
    const std::string& key = assignment.first;
    if (std::any_of(keys.begin(), keys.end(), [&](const VariedKey& k) { return k.key == key; })) {
      throw Error(fmt::format("{} '{}': '{}' is varied twice", option, argument, key));
    }
    keys.push_back({key, expanded(key, split_values(option, argument, assignment.second))});
  }
  return keys;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "_-+=.,:/@%";
  const bool plain = !text.empty() && std::ranges::all_of(text, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           kPlain.find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::vector<Overrides> cross_product(const std::vector<VariedKey>& keys) {
  std::vector<Overrides> points = {{}};
  for (const VariedKey& key : keys) {
    std::vector<Overrides> longer;
    for (const Overrides& point : points) {
      for (const std::string& value : key.values) {
        longer.push_back(point);
        longer.back().emplace_back(key.key, value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace windtunnel
