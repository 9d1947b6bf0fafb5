#include "scenarios/language/imports/configuration_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/choice.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

using Kind = DocumentNode::Kind;

template <class Enum>
struct NamedWord {
  std::string_view name;
  Enum value;
};
constexpr NamedWord<StatedModel> kStatedModels[] = {{"keys", StatedModel::keys},
                                                    {"megatron", StatedModel::megatron},
                                                    {"hugging-face", StatedModel::hugging_face}};
constexpr NamedWord<ConfigurationForm> kForms[] = {{"yaml", ConfigurationForm::yaml},
                                                   {"toml", ConfigurationForm::toml},
                                                   {"script", ConfigurationForm::script}};

template <class Enum, std::size_t Count>
Enum word_in(const NamedWord<Enum> (&words)[Count], const DocumentNode& node,
             const std::string& key) {
  std::vector<std::string> known;
  for (const NamedWord<Enum>& word : words) {
    if (word.name == node.text) return word.value;
    known.emplace_back(word.name);
  }
  throw Error(node.where, unknown_name(key, node.text, known));
}

void check_meant_key(const std::string& key, const Location& where) {
  const std::string_view plain = std::string_view(key).substr(key.starts_with("!") ? 1 : 0);
  if (key.starts_with(".") || key.starts_with("--") || find_field(plain) != nullptr) return;
  throw Error(where, fmt::format("'{}' is no key of a scenario", key));
}

std::vector<MeantKey> read_meant(const DocumentNode& node) {
  if (node.kind == Kind::null) return {};
  if (node.kind == Kind::scalar) {
    check_meant_key(node.text, node.where);
    return {{node.text, ""}};
  }
  require_map(node, "what a value means");
  std::vector<MeantKey> meant;
  for (const DocumentEntry& entry : node.entries) {
    check_meant_key(entry.key, entry.where);
    const bool itself = entry.value.kind == Kind::null;  // null: the setting's own value
    const bool scalar = entry.value.kind == Kind::scalar;
    meant.emplace_back(entry.key, itself ? "" : scalar ? entry.value.text : flow_text(entry.value));
  }
  return meant;
}

MeantSetting read_row(const DocumentEntry& entry) {
  MeantSetting row{.name = setting_name(entry.key), .cases = {}};
  if (entry.value.kind != Kind::map) {
    row.cases.emplace_back("any", read_meant(entry.value));
    return row;
  }
  for (const DocumentEntry& value : entry.value.entries) {
    row.cases.emplace_back(value.key, read_meant(value.value));
  }
  return row;
}

void add_names(const DocumentNode& map, const std::string& key, std::vector<std::string>& to) {
  const DocumentNode* names = map.value_of(key);
  if (names == nullptr) return;
  for (const std::string& name : texts_of(*names)) to.push_back(setting_name(name));
}

WrittenForm read_writes(const DocumentNode& map) {
  check_keys(map, {"as", "form", "command", "program", "program_with", "planned_as", "launcher",
                   "model_missing", "settings", "beside"});
  WrittenForm writes{.as = require_text(map, "as"),
                     .form = require_text(map, "form"),
                     .command = text_or_empty(map, "command"),
                     .program = text_or_empty(map, "program"),
                     .launcher = {},
                     .model_missing = flag_or_false(map, "model_missing"),
                     .settings = {}};
  if (const DocumentNode* launcher = map.value_of("launcher"))
    writes.launcher = texts_of(*launcher);
  if (const DocumentNode* planned = map.value_of("planned_as")) {
    writes.planned_as = find_framework(planned->text).name;
  }
  if (const DocumentNode* beside = map.value_of("beside")) {
    for (const DocumentEntry& entry : beside->entries) {
      writes.beside.emplace_back(entry.key, texts_of(entry.value));
    }
  }
  if (const DocumentNode* programs = map.value_of("program_with")) {
    for (const DocumentEntry& entry : programs->entries) {
      writes.program_with.emplace_back(entry.key, entry.value.text);
    }
  }
  for (const DocumentNode& item : require(map, "settings").items) {
    if (item.kind != Kind::map) {
      writes.settings.push_back({item.text, ""});
      continue;
    }
    for (const DocumentEntry& entry : item.entries) {
      writes.settings.push_back({entry.key, entry.value.text});
    }
  }
  return writes;
}

void read_table(const DocumentNode& map, ConfigurationTable& table) {
  check_keys(map, {"help", "base", "software", "model", "model_from", "told_by", "forms", "reads",
                   "without_effect", "not_modelled", "assumes", "source", "writes"});
  table.help = require_text(map, "help");
  table.source = require_text(map, "source");
  table.told_by = texts_of(require(map, "told_by"));
  table.writes = {};  // not inherited: it describes the base's kind of file
  if (const DocumentNode* writes = map.value_of("writes")) table.writes = read_writes(*writes);
  if (const DocumentNode* software = map.value_of("software")) {
    table.software = software->kind == Kind::null ? "" : find_framework(software->text).name;
  }
  if (const DocumentNode* model = map.value_of("model")) {
    table.model = word_in(kStatedModels, *model, "model");
  }
  if (const DocumentNode* forms = map.value_of("forms")) {
    table.forms.clear();
    for (const DocumentNode& form : forms->items)
      table.forms.push_back(word_in(kForms, form, "forms"));
  }
  if (const DocumentNode* reads = map.value_of("reads")) {
    // The entry's rows go before the base's, so that they win.
    std::vector<MeantSetting> rows;
    for (const DocumentEntry& entry : reads->entries) rows.push_back(read_row(entry));
    table.reads.insert(table.reads.begin(), rows.begin(), rows.end());
  }
  add_names(map, "model_from", table.model_from);
  add_names(map, "without_effect", table.without_effect);
  if (const DocumentNode* names = map.value_of("not_modelled")) {
    for (const DocumentEntry& entry : names->entries) {
      table.not_modelled[setting_name(entry.key)] = entry.value.text;
    }
  }
  if (const DocumentNode* assumed = map.value_of("assumes")) {
    for (const DocumentEntry& entry : assumed->entries) {
      check_meant_key(entry.key, entry.where);
      std::erase_if(table.assumes,
                    [&](const AssumedSetting& other) { return other.key == entry.key; });
      table.assumes.push_back(
          {entry.key, require_text(entry.value, "is"), require_text(entry.value, "why")});
    }
  }
}

std::vector<ConfigurationTable> read_tables(const DocumentNode& document) {
  require_map(document, "kinds of configurations");
  std::vector<ConfigurationTable> tables;
  for (const DocumentEntry& entry : document.entries) {
    require_map(entry.value, entry.key);
    ConfigurationTable table;
    if (const DocumentNode* base = entry.value.value_of("base")) {
      const auto found = std::ranges::find(tables, base->text, &ConfigurationTable::name);
      if (found == tables.end()) {
        throw Error(base->where,
                    fmt::format("'{}' is not the name of an earlier entry", base->text));
      }
      table = *found;
    }
    table.name = entry.key;
    read_table(entry.value, table);
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace

const std::vector<ConfigurationTable>& configuration_tables() {
  static const std::vector<ConfigurationTable> tables =
      read_tables(library_document("configurations.yaml"));
  return tables;
}

bool ends_with_name(std::string_view path, std::string_view name) {
  const bool begins = name.ends_with("*");
  if (begins) name.remove_suffix(1);
  for (std::size_t word = 0; word != std::string_view::npos;) {
    const std::string_view rest = path.substr(word);
    if (begins ? rest.starts_with(name) : rest == name) return true;
    const std::size_t dot = path.find('.', word);
    word = dot == std::string_view::npos ? dot : dot + 1;
  }
  return false;
}

const MeantSetting* row_of(const ConfigurationTable& table, const Setting& setting) {
  const MeantSetting* found = nullptr;
  for (const MeantSetting& row : table.reads) {
    const bool longer = found == nullptr || row.name.size() > found->name.size();
    if (longer && ends_with_name(setting.name, row.name)) found = &row;
  }
  return found;
}

bool told(const ConfigurationTable& table, const ConfigurationFile& file) {
  const bool form =
      table.forms.empty() || std::ranges::find(table.forms, file.form) != table.forms.end();
  const auto is_there = [&](const std::string& names) {
    std::string_view rest(names);
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find('|'));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      if (std::ranges::any_of(file.settings, [&](const Setting& setting) {
            return ends_with_name(setting.name, name);
          })) {
        return true;
      }
    }
    return false;
  };
  return form && std::ranges::all_of(table.told_by, is_there);
}

const ConfigurationTable* table_of(const ConfigurationFile& file) {
  const ConfigurationTable* found = nullptr;
  for (const ConfigurationTable& table : configuration_tables()) {
    const bool more = found == nullptr || table.told_by.size() > found->told_by.size();
    if (more && told(table, file)) found = &table;
  }
  return found;
}

const ConfigurationTable& find_table(std::string_view name) {
  std::vector<std::string> known;
  for (const ConfigurationTable& table : configuration_tables()) {
    if (table.name == name) return table;
    known.push_back(table.name);
  }
  throw Error(unknown_name("kind of configuration", name, known));
}

}  // namespace windtunnel
