#include "cli/mcp/mcp_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

struct ToolRow {
  std::string_view command;
  // McpTool::document: false for a list of names, whose text is easier to read.
  bool document = true;
};

// The commands that are offered as tools.
constexpr ToolRow kTools[] = {{"plan"},   {"run"},      {"compare"}, {"optimise"},
                              {"expect"}, {"diagnose"}, {"import"},  {"list", false}};

// Options that a caller cannot use: files to write, and the look of the answer on a terminal.
// --json is always added.
constexpr std::string_view kLeftOut[] = {"help", "json", "quiet", "page", "out", "launch-to"};

// "--set" -> "set", "SCENARIO" -> "scenario": the longest name of the option, without dashes.
std::string property_name(const OptionPage& option) {
  std::string name;
  for (const std::string& each : option.names) {
    if (each.size() > name.size()) name = each;
  }
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  if (option.positional) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  }
  return name;
}

bool is_left_out(const OptionPage& option) {
  return std::ranges::find(kLeftOut, property_name(option)) != std::end(kLeftOut);
}

bool takes_text(const OptionPage& option) {
  return option.kind == ValueKind::scenario || option.kind == ValueKind::file;
}

Json value_schema(const OptionPage& option) {
  if (option.kind == ValueKind::flag) return {{"type", "boolean"}};
  if (!option.choices.empty()) return {{"type", "string"}, {"enum", option.choices}};
  return {{"type", option.numeric ? "number" : "string"}};
}

Json property_schema(const OptionPage& option) {
  Json schema = value_schema(option);
  if (option.list) schema = {{"type", "array"}, {"items", schema}};
  std::string help = option.help;
  if (!option.value.empty() && !option.positional) help += fmt::format(" ({})", option.value);
  if (takes_text(option)) help += "; a path, or the text itself if it has several lines";
  schema["description"] = help;
  return schema;
}

const char* type_name(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return "a boolean";
  if (value.is_number()) return "a number";
  if (value.is_string()) return "a text";
  return value.is_array() ? "a list" : "an object";
}

// Returns one value as a word of the command line.
std::string word_of(const std::string& name, const Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.find('\0') == std::string::npos) return text;
    throw Error(fmt::format("'{}' holds a zero byte", name));
  }
  if (value.is_number() || value.is_boolean()) return value.dump();
  throw Error(fmt::format("'{}' is {}; expected a text", name, type_name(value)));
}

// Guesses the format of a configuration's text: a script, TOML with a section, or YAML and JSON,
// which have one reader.
const char* suffix_of(std::string_view text) {
  if (text.starts_with("#!")) return ".sh";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    const bool section = line.size() > 2 && line.front() == '[' && line.back() == ']' &&
                         line.find_first_of(",:{}\"", 1) == std::string_view::npos;
    if (section) return ".toml";
    const bool above = line.empty() || line.front() == '#' || line.find(" = ") != line.npos;
    if (!above) break;
  }
  return ".yaml";
}

class CommandMaker {
 public:
  CommandMaker(const McpTool& tool, const std::string& folder) : tool_(tool), folder_(folder) {}

  ToolCommand make(const Json& arguments) {
    command_.words.push_back(tool_.name);
    if (tool_.document) command_.words.emplace_back("--json");
    std::vector<std::string> known;
    for (const OptionPage& option : tool_.page.options) {
      if (!is_left_out(option)) known.push_back(property_name(option));
    }
    for (const auto& [name, value] : arguments.items()) {
      if (std::ranges::find(known, name) == known.end()) {
        throw Error(unknown_name("argument", name, known));
      }
    }
    for (const OptionPage& option : tool_.page.options) {
      if (is_left_out(option)) continue;
      const auto found = arguments.find(property_name(option));
      if (found != arguments.end() && !found->is_null()) add(option, *found);
    }
    // After "--" no word is read as an option.
    if (!positional_.empty()) command_.words.emplace_back("--");
    command_.words.insert(command_.words.end(), positional_.begin(), positional_.end());
    return std::move(command_);
  }

 private:
  void add(const OptionPage& option, const Json& value) {
    const std::string name = property_name(option);
    if (option.kind == ValueKind::flag) {
      if (!value.is_boolean()) {
        throw Error(fmt::format("'{}' is {}; expected true or false", name, type_name(value)));
      }
      if (value.get<bool>()) command_.words.push_back(option.names.front());
      return;
    }
    if (value.is_array() && !option.list) {
      throw Error(fmt::format("'{}' is a list; expected one value", name));
    }
    if (!value.is_array()) return add_word(option, word_of(name, value));
    for (const Json& each : value) add_word(option, word_of(name, each));
  }

  void add_word(const OptionPage& option, std::string word) {
    if (takes_text(option) && word.find('\n') != std::string::npos) word = file_of(option, word);
    if (option.positional) {
      positional_.push_back(std::move(word));
    } else if (option.names.front().starts_with("--")) {
      command_.words.push_back(fmt::format("{}={}", option.names.front(), word));
    } else {
      command_.words.push_back(option.names.front());
      command_.words.push_back(std::move(word));
    }
  }

  std::string file_of(const OptionPage& option, const std::string& text) {
    const char* suffix = option.kind == ValueKind::scenario ? suffix_of(text) : ".txt";
    const std::string number =
        command_.files.empty() ? "" : fmt::format("-{}", command_.files.size() + 1);
    std::string path = fmt::format("{}/{}{}{}", folder_, property_name(option), number, suffix);
    command_.files.emplace_back(path, text);
    return path;
  }

  const McpTool& tool_;
  const std::string& folder_;
  ToolCommand command_;
  std::vector<std::string> positional_;
};

}  // namespace

Json McpTool::definition() const {
  Json properties = Json::object();
  Json required = Json::array();
  for (const OptionPage& option : page.options) {
    if (is_left_out(option)) continue;
    properties[property_name(option)] = property_schema(option);
    if (option.required) required.push_back(property_name(option));
  }
  Json schema = {{"type", "object"}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  return {{"name", name},
          {"description", description},
          {"inputSchema", schema},
          {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}};
}

std::vector<McpTool> mcp_tools(const CommandPage& program) {
  std::vector<McpTool> tools;
  for (const auto& [name, document] : kTools) {
    const auto page = std::ranges::find(program.commands, name, &CommandPage::path);
    CHECK(page != program.commands.end(), "no command '{}'", name);
    std::string description = page->help;
    const std::size_t example = page->footer.find(program.names.front() + " ");
    if (example != std::string::npos) {
      description += fmt::format(". On the command line: {}", page->footer.substr(example));
      description.resize(description.find_last_not_of('\n') + 1);
    }
    tools.push_back({std::string(name), description, *page, document});
  }
  return tools;
}

ToolCommand command_of(const McpTool& tool, const Json& arguments, const std::string& folder) {
  return CommandMaker(tool, folder).make(arguments);
}

}  // namespace windtunnel
