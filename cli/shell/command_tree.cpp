#include "cli/shell/command_tree.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

namespace windtunnel {
namespace {

// The names in "AIM:{iteration,memory}"; none if the type has no list.
std::vector<std::string> choices_of(const std::string& type) {
  std::vector<std::string> choices;
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open == type.npos || close == type.npos || close < open) return choices;
  for (size_t from = open + 1; from <= close;) {
    const size_t end = std::min(type.find(',', from), close);
    choices.push_back(type.substr(from, end - from));
    from = end + 1;
  }
  return choices;
}

// Removes the check from "N:INT in [1 - 4096]".
std::string called(const std::string& type) {
  size_t end = type.size();
  for (const char* check : {":{", ":INT in ", ":FLOAT in ", ":FILE"}) {
    end = std::min(end, type.find(check));
  }
  return type.substr(0, end);
}

// Tells the kind by the value's name in the help.
ValueKind kind_of(std::string_view value) {
  const auto has = [&](std::string_view word) { return value.find(word) != value.npos; };
  if (has("KEY=") || value == "WHAT...") return ValueKind::key;
  if (has("SCENARIO")) return ValueKind::scenario;
  if (value.starts_with("DIR")) return ValueKind::folder;
  for (const char* file : {"FILE", "LOG", ".csv", ".yaml", "TRACE", "CALIBRATION", "SCHEDULE"}) {
    if (has(file)) return ValueKind::file;
  }
  return ValueKind::text;
}

OptionPage option_page(const CLI::Option& option) {
  OptionPage page;
  page.positional = option.get_positional();
  page.help = option.get_description();
  page.required = option.get_required();
  if (page.positional) page.names.push_back(option.get_name());
  for (const std::string& name : option.get_lnames()) page.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) page.names.push_back("-" + name);
  if (option.get_items_expected_max() == 0) return page;
  const std::string type = option.get_type_name();
  page.choices = choices_of(type);
  page.value = page.positional ? option.get_name() : called(type);
  page.list = option.get_items_expected_max() > 1;
  page.numeric = type.find("INT") != type.npos || type.find("FLOAT") != type.npos;
  // An argument called FILE or JOB may also be a scenario.
  const ValueKind by_type = kind_of(called(type));
  page.kind = !page.choices.empty()        ? ValueKind::choice
              : by_type == ValueKind::text ? kind_of(page.value)
                                           : by_type;
  return page;
}

std::string usage_of(const CommandPage& page, const std::string& name) {
  std::string usage = name;
  if (std::ranges::any_of(page.options, [](const auto& option) { return !option.positional; })) {
    usage += " [OPTIONS]";
  }
  for (const OptionPage& option : page.options) {
    if (!option.positional) continue;
    const std::string& place = option.names.front();
    usage += option.required ? fmt::format(" {}", place) : fmt::format(" [{}]", place);
  }
  return page.commands.empty() ? usage : usage + " COMMAND ...";
}

CommandPage command_page(const CLI::App& app, const std::string& path, const std::string& typed) {
  CommandPage page;
  page.path = path;
  page.names.push_back(app.get_name());
  page.help = app.get_description();
  page.footer = app.get_footer();
  page.elsewhere = app.get_prefix_command();
  for (const std::string& alias : app.get_aliases()) page.names.push_back(alias);
  for (const CLI::Option* option : app.get_options()) {
    const bool shown = !option->get_group().empty();  // options without a group are hidden
    if (shown) page.options.push_back(option_page(*option));
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string& name = sub->get_name();
    const std::string own = path.empty() ? name : fmt::format("{} {}", path, name);
    page.commands.push_back(command_page(*sub, own, fmt::format("{} {}", typed, name)));
  }
  page.usage = usage_of(page, typed);
  return page;
}

}  // namespace

CommandPage command_tree(const CLI::App& program) {
  return command_page(program, "", program.get_name());
}

std::vector<const CommandPage*> all_commands(const CommandPage& page) {
  std::vector<const CommandPage*> all = {&page};
  for (const CommandPage& command : page.commands) {
    for (const CommandPage* each : all_commands(command)) all.push_back(each);
  }
  return all;
}

}  // namespace windtunnel
