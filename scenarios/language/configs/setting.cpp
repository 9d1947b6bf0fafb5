#include "scenarios/language/configs/setting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

bool is_list_of_scalars(const DocumentNode& node) {
  return std::ranges::all_of(node.items, [](const DocumentNode& item) {
    return item.kind == DocumentNode::Kind::scalar || item.kind == DocumentNode::Kind::null;
  });
}

// Removes the separators of YAML numbers: "500_000" is 500000.
std::string plain_number(std::string text) {
  const bool number = text.find_first_not_of("0123456789_") == std::string::npos;
  if (number && !text.starts_with('_')) std::erase(text, '_');
  return text;
}

void flatten(const DocumentNode& node, const std::string& name, std::vector<Setting>& into) {
  switch (node.kind) {
    case DocumentNode::Kind::null:
      into.push_back({name, "null", node.where});
      return;
    case DocumentNode::Kind::scalar:
      into.push_back({name, plain_number(node.text), node.where});
      return;
    case DocumentNode::Kind::list:
      if (is_list_of_scalars(node)) {
        into.push_back({name, flow_text(node), node.where});
        return;
      }
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        flatten(node.items[i], fmt::format("{}.{}", name, i), into);
      }
      return;
    case DocumentNode::Kind::map:
      for (const DocumentEntry& entry : node.entries) {
        const std::string key = setting_name(entry.key);
        flatten(entry.value, name.empty() ? key : fmt::format("{}.{}", name, key), into);
      }
      return;
  }
}

// The YAML parser accepts faulty JSON, such as a name without its closing quote.
void check_json(const std::string& text, const std::string& path) {
  using Json = nlohmann::json;
  const auto discard = [](int, Json::parse_event_t, Json&) { return false; };
  try {
    [[maybe_unused]] const Json nothing = Json::parse(text, discard, true, true);
  } catch (const Json::parse_error& error) {
    const std::size_t end = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    const std::string_view before = std::string_view(text).substr(0, end);
    const auto line = std::ranges::count(before, '\n');
    const std::size_t start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    throw Error({path, static_cast<int>(line) + 1, static_cast<int>(end - start) + 1},
                "not valid JSON: a quote, a comma or a bracket is missing at or before it");
  }
}

ConfigurationForm form_of(const std::string& text, const std::string& path) {
  const auto ends = [&](std::string_view suffix) { return path.ends_with(suffix); };
  if (ends(".toml")) return ConfigurationForm::toml;
  if (ends(".json") || ends(".yaml") || ends(".yml")) return ConfigurationForm::yaml;
  if (ends(".sh") || ends(".bash") || ends(".sbatch") || ends(".slurm") || ends(".args")) {
    return ConfigurationForm::script;
  }
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != std::string::npos && text[begin] == '{';
  return json ? ConfigurationForm::yaml : ConfigurationForm::script;
}

}  // namespace

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string setting_name(std::string_view written) {
  written.remove_prefix(std::min(written.find_first_not_of("-+~"), written.size()));
  std::string name(written);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = i == 0 || name[i - 1] == '.';
    const bool alone = begins && (i + 1 == name.size() || name[i + 1] == '.');
    if (name[i] == '-') name[i] = '_';
    if (!alone) name[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return name;
}

std::vector<Setting> settings_of_document(const std::string& text, const std::string& path) {
  if (path.ends_with(".json")) check_json(text, path);
  const DocumentNode document = parse_document(text, path);
  if (document.kind != DocumentNode::Kind::map) {
    throw Error(document.where.file.empty() ? Location{path, 1, 1} : document.where,
                "contains no names with values");
  }
  std::vector<Setting> settings;
  flatten(document, "", settings);
  return with_interpolations(std::move(settings));
}

ConfigurationFile read_configuration(const std::string& text, const std::string& path) {
  const ConfigurationForm form = form_of(text, path);
  switch (form) {
    case ConfigurationForm::toml:
      return {path, form, settings_of_toml(text, path)};
    case ConfigurationForm::script:
      return {path, form, settings_of_script(text, path)};
    case ConfigurationForm::yaml:
      break;
  }
  return {path, form, settings_of_document(text, path)};
}

}  // namespace windtunnel
