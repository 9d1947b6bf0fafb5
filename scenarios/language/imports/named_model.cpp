#include "scenarios/language/imports/named_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>
#include <vector>

#include "models/base/error.hpp"
#include "scenarios/language/library/facts/model_names.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWayOn =
    "state it with --model, or with --set model=NAME if the command has no such option: a name of "
    "`windtunnel list models` or its config.json";

// Returns the sizes that a name states in billions of parameters: "8B", "1.6b" and "1_6b".
std::vector<double> stated_sizes(const std::string& name) {
  const std::string plain = in_lower_case(name);
  const auto is_of = [&](std::size_t at, int (*kind)(int)) {
    return kind(static_cast<unsigned char>(plain[at])) != 0;
  };
  std::vector<double> sizes;
  const auto add = [&](const std::string& digits) {
    double size = 0;
    const char* end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, size).ec == std::errc()) sizes.push_back(size);
  };
  for (std::size_t b = plain.find('b'); b != std::string::npos; b = plain.find('b', b + 1)) {
    if (b + 1 < plain.size() && is_of(b + 1, std::isalnum)) continue;
    std::size_t begin = b;
    while (begin > 0 && (is_of(begin - 1, std::isdigit) || plain[begin - 1] == '.')) --begin;
    // "A3B" counts active parameters, "8x7B" those of an expert.
    const bool of_part = begin > 0 && (plain[begin - 1] == 'a' || plain[begin - 1] == 'x');
    if (begin == b || of_part) continue;
    const std::string size = plain.substr(begin, b - begin);
    if (!is_of(begin, std::isdigit)) continue;
    add(size);
    if (begin > 1 && plain[begin - 1] == '_' && is_of(begin - 2, std::isdigit)) {
      add(fmt::format("{}.{}", plain[begin - 2], size));
    }
  }
  return sizes;
}

// A name with "16B" does not mean a model with 671 B parameters, unless the library has that very
// name: some names leave out embeddings, or count active parameters only.
void check_size(const TransformerSpec& model, const std::string& name, const Setting& from) {
  constexpr double kAlike = 0.3;  // relative tolerance, because names round
  std::vector<double> known = stated_sizes(model.name);
  known.push_back(model.parameters() / 1e9);
  known.push_back(model.active_parameters() / 1e9);
  const std::vector<double> stated = stated_sizes(name);
  const auto is_known = [&](double size) {
    return std::ranges::any_of(
        known, [&](double other) { return std::abs(other - size) < kAlike * size; });
  };
  if (stated.empty() || std::ranges::any_of(stated, is_known)) return;
  throw Error(from.where,
              fmt::format("'{}': the closest model of the library, {}, has {:.3g} B parameters; {}",
                          name, model.name, model.parameters() / 1e9, kWayOn));
}

// "GLM-4.5-Air" and "GLM-4.5V" are no GLM-4.5: these words tell members of a family apart where
// their names state no parameters.
bool tells_member(const std::string& word) {
  static const std::set<std::string, std::less<>> words = {
      "air", "flash", "large", "lite", "medium", "mini", "nano", "small", "tiny", "vl"};
  const bool vision = word.size() > 1 && word.back() == 'v' &&
                      std::isdigit(static_cast<unsigned char>(word[word.size() - 2])) != 0;
  return vision || words.contains(word);
}

void check_member(const TransformerSpec& model, const std::string& name, const Setting& from) {
  if (!stated_sizes(name).empty()) return;
  std::string word;
  for (const char c : in_lower_case(name) + "-") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.') {
      word += c;
      continue;
    }
    if (tells_member(word) && model.name.find(word) == std::string::npos) {
      throw Error(from.where, fmt::format("'{}': the closest model of the library, {}, is another "
                                          "member of its family; {}",
                                          name, model.name, kWayOn));
    }
    word.clear();
  }
}

}  // namespace

std::string quoted_path(const fs::path& path) {
  return fmt::format("'{}'", fs::absolute(path).lexically_normal().string());
}

std::string named_model(const std::string& said, const std::string& name, const Setting& from) {
  std::error_code ignored;
  const fs::path folder = fs::path(from.where.file).parent_path();
  for (const fs::path& path : {fs::path(said), fs::path(said) / "config.json", folder / said,
                               folder / said / "config.json"}) {
    if (path.extension() == ".json" && fs::is_regular_file(path, ignored)) return quoted_path(path);
  }
  try {
    const TransformerSpec& model = model_named(name);
    check_size(model, name, from);
    check_member(model, name, from);
    return model.name;
  } catch (const Error& error) {
    if (!error.where().file.empty()) throw;
    throw Error(from.where, fmt::format("{}; {}", error.text(), kWayOn));
  }
}

}  // namespace windtunnel
