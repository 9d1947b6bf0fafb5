#include "scenarios/language/library/facts/model_names.hpp"

#include <fmt/format.h>

#include <map>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document_reader.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

using ModelNames = std::map<std::string, const TransformerSpec*>;

ModelNames read_model_names(const DocumentNode& document) {
  require_map(document, "names of models");
  ModelNames names;
  for (const TransformerSpec& model : library_models()) names[plain_name(model.name)] = &model;
  for (const DocumentEntry& entry : document.entries) {
    require_map(entry.value, entry.key);
    check_keys(entry.value, {"is", "source"});
    require_text(entry.value, "source");
    const TransformerSpec& model = find_model(require_text(entry.value, "is"));
    if (!names.emplace(plain_name(entry.key), &model).second) {
      throw Error(entry.where, fmt::format("{}: this name of a model is there already", entry.key));
    }
  }
  return names;
}

}  // namespace

const TransformerSpec& model_named(const std::string& text) {
  static const ModelNames names = read_model_names(library_document("model_names.yaml"));
  const std::string plain = plain_name(text);
  std::size_t longest = 0;
  const TransformerSpec* found = nullptr;
  for (const auto& [name, model] : names) {
    if (name.size() <= longest || plain.find(name) == std::string::npos) continue;
    longest = name.size();
    found = model;
  }
  if (found == nullptr) {
    throw Error(fmt::format("no model of the library is called '{}'", excerpt(text)));
  }
  return *found;
}

}  // namespace windtunnel
