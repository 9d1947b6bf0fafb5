#include "scenarios/language/library/facts/model_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

// The library's models under two forms of their names. With decimal points, "opt-1.3b" differs from
// "opt-13b"; without them, "qwen2_5_7b" equals "qwen2.5-7b".
struct ModelNames {
  std::map<std::string, const TransformerSpec*> dotted;
  std::map<std::string, const TransformerSpec*> plain;  // null: two models share the name
};

// Like plain_name(), but keeps points between digits.
std::string dotted_name(std::string_view text) {
  const auto digit = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool point = text[i] == '.' && i > 0 && digit(i - 1) && digit(i + 1);
    name += point ? "." : plain_name(text.substr(i, 1));
  }
  return name;
}

void add_name(ModelNames& names, const std::string& name, const TransformerSpec& model) {
  names.dotted[dotted_name(name)] = &model;
  const auto [found, is_new] = names.plain.emplace(plain_name(name), &model);
  if (!is_new) found->second = nullptr;
}

ModelNames read_model_names(const DocumentNode& document) {
  require_map(document, "names of models");
  ModelNames names;
  for (const TransformerSpec& model : library_models()) add_name(names, model.name, model);
  for (const DocumentEntry& entry : document.entries) {
    require_map(entry.value, entry.key);
    check_keys(entry.value, {"is", "source"});
    require_text(entry.value, "source");
    const TransformerSpec& model = find_model(require_text(entry.value, "is"));
    if (names.plain.contains(plain_name(entry.key))) {
      throw Error(entry.where,
                  fmt::format("{}: this name of a model is already listed", entry.key));
    }
    add_name(names, entry.key, model);
  }
  return names;
}

}  // namespace

const TransformerSpec* model_called(const std::string& text) {
  static const ModelNames names = read_model_names(library_document("model_names.yaml"));
  std::size_t longest = 0;
  const TransformerSpec* found = nullptr;
  const auto search = [&](const auto& known, const std::string& said) {
    for (const auto& [name, model] : known) {
      const auto points = static_cast<std::size_t>(std::ranges::count(name, '.'));
      if (name.size() - points <= longest || said.find(name) == std::string::npos) continue;
      longest = name.size() - points;
      found = model;
    }
  };
  search(names.dotted, dotted_name(text));
  search(names.plain, plain_name(text));
  return found;
}

const TransformerSpec& model_named(const std::string& text) {
  const TransformerSpec* found = model_called(text);
  if (found == nullptr) {
    throw Error(fmt::format("no model of the library is called '{}'", excerpt(text)));
  }
  return *found;
}

}  // namespace windtunnel
