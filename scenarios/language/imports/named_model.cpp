#include "scenarios/language/imports/named_model.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

#include "models/base/error.hpp"
#include "scenarios/language/library/facts/model_names.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWayOn =
    "give it as --model, a name of `windtunnel list models` or its config.json";

// A name that says "16B" is not of a model with 671 B parameters.
void check_size(const TransformerSpec& model, const std::string& name, const Setting& from) {
  constexpr double kAlike = 0.3;  // names round, and some leave embeddings out
  const std::string plain = in_lower_case(name);
  const auto is_of = [&](std::size_t at, int (*kind)(int)) {
    return kind(static_cast<unsigned char>(plain[at])) != 0;
  };
  bool stated = false;
  for (std::size_t b = plain.find('b'); b != std::string::npos; b = plain.find('b', b + 1)) {
    if (b + 1 < plain.size() && is_of(b + 1, std::isalnum)) continue;
    std::size_t begin = b;
    while (begin > 0 && (is_of(begin - 1, std::isdigit) || plain[begin - 1] == '.')) --begin;
    // "A3B" counts active ones, "8x7B" those of an expert.
    const bool of_part = begin > 0 && (plain[begin - 1] == 'a' || plain[begin - 1] == 'x');
    if (begin == b || of_part) continue;
    stated = true;
    const double said = std::stod(plain.substr(begin, b - begin)) * 1e9;
    if (std::abs(model.parameters() / said - 1) < kAlike) return;
  }
  if (!stated) return;
  throw Error(from.where,
              fmt::format("'{}': the nearest model of the library, {}, has {:.3g} B parameters; {}",
                          name, model.name, model.parameters() / 1e9, kWayOn));
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
    return model.name;
  } catch (const Error& error) {
    if (!error.where().file.empty()) throw;
    throw Error(from.where, fmt::format("{}; {}", error.text(), kWayOn));
  }
}

}  // namespace windtunnel
