#include "cli/shell/completion.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

const OptionPage* option_named(const CommandPage& page, std::string_view name) {
  const auto found = std::ranges::find_if(page.options, [&](const OptionPage& option) {
    return !option.positional && std::ranges::find(option.names, name) != option.names.end();
  });
  return found == page.options.end() ? nullptr : &*found;
}

const CommandPage* command_named(const CommandPage& page, std::string_view name) {
  const auto found = std::ranges::find_if(page.commands, [&](const CommandPage& command) {
    return std::ranges::find(command.names, name) != command.names.end();
  });
  return found == page.commands.end() ? nullptr : &*found;
}

// The argument at this place; the last one may repeat.
const OptionPage* argument_at(const CommandPage& page, std::size_t place) {
  const OptionPage* argument = nullptr;
  std::size_t seen = 0;
  for (const OptionPage& option : page.options) {
    if (option.positional && seen++ <= place) argument = &option;
  }
  return argument;
}

void add_words(const std::vector<std::string>& words, const std::string& help, Completion& found) {
  for (const std::string& word : words) found.candidates.push_back({word, help});
}

// The row that checks the key's value; nullptr if there is none.
const Field* value_row(const std::string& key) {
  const Field* field = find_field(key);
  if (field == nullptr || field->shorthand.empty() || !names_of(*field).empty()) return field;
  return find_field(join_path(field->path, field->shorthand));
}

void add_values_of(const std::string& key, Completion& found) {
  const Field* field = value_row(key);
  if (field == nullptr) return;
  add_words(names_of(*field), "", found);
  if (field->scalar == ScalarType::boolean && field->names.empty()) {
    add_words({"true", "false"}, "", found);
  }
  if (!suffixes_of(*field).empty()) found.files = ValueKind::file;
}

// The first number among the parts of a key, its index in a list; "0" if it has none.
std::string index_in(const std::string& key) {
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  for (const std::string& part : split_path(key)) {
    if (!part.empty() && std::ranges::all_of(part, digit)) return part;
  }
  return "0";
}

// Completes KEY=VALUE and KEY=A,B,C.
void add_keys(const std::string& text, Completion& found) {
  const std::size_t equals = text.find('=');
  if (equals != text.npos) {
    found.prefix += text.substr(0, text.find_last_of("=,") + 1);
    return add_values_of(text.substr(0, equals), found);
  }
  const std::string index = index_in(text);
  for (const Field& field : field_table()) {
    if (field.path.empty()) continue;
    // A map or list is set by the keys below it, so it is no candidate itself.
    if (field.scalar == ScalarType::none && field.shorthand.empty()) continue;
    std::string key;
    for (const char c : field.path) key += c == '*' ? index : std::string(1, c);
    found.candidates.push_back({key + "=", std::string(field.help)});
  }
}

// A kind of value that names entries of the library. `value` is what the help calls it.
struct NamedValue {
  std::string_view value;
  std::vector<std::string_view> keys;  // keys of scenarios that take the same names
  bool counted = false;                // the name follows a number, "64 x dgx-h100"
};

const NamedValue* named_value(std::string_view value) {
  static const std::vector<NamedValue> table = {
      {"MODEL", {"model"}},
      {"MACHINE", {"cluster.node", "cluster.node.gpu"}, true},
      {"N x NODE", {"cluster.node", "cluster.node.gpu"}, true},
      {"CALIBRATION", {"calibration"}},
      {"NAME|FILE", {"calibration"}},
  };
  const auto found = std::ranges::find(table, value, &NamedValue::value);
  return found == table.end() ? nullptr : &*found;
}

void add_value(const OptionPage& option, const std::string& text, Completion& found) {
  if (option.kind == ValueKind::key) return add_keys(text, found);
  found.files = option.kind;
  add_words(option.choices, "", found);
  const NamedValue* named = named_value(option.value);
  if (named == nullptr) return;
  if (named->counted) {
    const std::size_t name = text.rfind(' ') + 1;
    if (name == 0 || std::isdigit(static_cast<unsigned char>(text.front())) == 0) return;
    found.prefix += text.substr(0, name);
  } else {
    found.files = ValueKind::file;
  }
  for (const std::string_view key : named->keys) {
    if (const Field* field = value_row(std::string(key))) add_words(names_of(*field), "", found);
  }
}

}  // namespace

Completion completion_of(const CommandPage& program, const std::vector<std::string>& words) {
  const CommandPage* page = &program;
  const OptionPage* option = nullptr;  // whose value comes next
  std::size_t arguments = 0;
  std::string text = words.empty() ? "" : words.back();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (option != nullptr) {
      option = nullptr;
    } else if (word.starts_with('-')) {
      option = option_named(*page, word);
      if (option != nullptr && option->kind == ValueKind::flag) option = nullptr;
    } else if (const CommandPage* command = command_named(*page, word)) {
      page = command;
      arguments = 0;
    } else {
      ++arguments;
    }
  }
  Completion found;
  if (const std::size_t equals = text.find('=');
      option == nullptr && text.starts_with('-') && equals != text.npos) {
    option = option_named(*page, text.substr(0, equals));
    found.prefix = text.substr(0, equals + 1);
    text.erase(0, equals + 1);
    if (option == nullptr) return found;
  }
  if (option != nullptr) {
    add_value(*option, text, found);
  } else if (text.starts_with('-')) {
    for (const OptionPage& each : page->options) {
      if (!each.positional) add_words(each.names, each.help, found);
    }
  } else {
    for (const CommandPage& command : page->commands) {
      add_words(command.names, command.help, found);
    }
    if (const OptionPage* argument = argument_at(*page, arguments)) {
      add_value(*argument, text, found);
    }
  }
  return found;
}

}  // namespace windtunnel
