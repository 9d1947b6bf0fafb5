#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "cli/shell/completion.hpp"
#include "cli/shell/completion_script.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kZsh = R"sh(#compdef PROGRAM
# zsh completion for PROGRAM. To load it: source <(PROGRAM completion zsh), or as a file _PROGRAM
# in a folder of $fpath.

_PROGRAM_values() {
  case $1 in
<<VALUES>>    *) ;;
  esac
}

# KEY=VALUE
_PROGRAM_keys() {
  local index=0 key words
  local -a match keys
  if [[ $PREFIX == *=* ]]; then
    key=${PREFIX%%\=*}
    compset -P '*[=,]'
    compadd -- ${=$(_PROGRAM_values "${key//.<->/.*}")}
  else
    [[ $PREFIX =~ '\.([0-9]+)(\.|$)' ]] && index=$match[1]
    words='<<KEYS>>'
    keys=(${=words})
    compadd -S = -- ${keys//\*/$index}
  fi
}

<<FUNCTIONS>>
if [[ $funcstack[1] == _PROGRAM ]]; then
  _PROGRAM "$@"
else
  compdef _PROGRAM PROGRAM
fi
)sh";

std::string zsh_action(const OptionPage& option, const std::string& program) {
  switch (option.kind) {
    case ValueKind::choice:
      return fmt::format("({})", fmt::join(option.choices, " "));
    case ValueKind::scenario:
      return "_files -g \"*.(yaml|json)\"";
    case ValueKind::file:
      return "_files";
    case ValueKind::folder:
      return "_files -/";
    case ValueKind::key:
      return fmt::format("_{}_keys", program);
    default:
      return " ";
  }
}

// As _arguments reads it, between [ ] or colons.
std::string zsh_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_value(const OptionPage& option, const std::string& program) {
  return option.kind == ValueKind::flag
             ? ""
             : fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option, program));
}

// Of a command; it calls those of the commands within it.
std::string zsh_function(const CommandPage& page, const std::string& program) {
  std::string name = "_" + program;
  for (const char c : page.path.empty() ? "" : " " + page.path) name += c == ' ' ? '_' : c;
  std::string text = fmt::format("{}() {{\n", name);
  if (!page.commands.empty())
    text += "  local -a line commands\n  local curcontext=$curcontext state\n";
  text += fmt::format("  _arguments{}", page.commands.empty() ? "" : " -C");
  for (const OptionPage& option : page.options) {
    if (option.positional) continue;
    for (const std::string& each : option.names) {
      text += " \\\n    " + single_quoted(fmt::format("*{}[{}]{}", each, zsh_text(option.help),
                                                      zsh_value(option, program)));
    }
  }
  std::string otherwise;  // what else than a command stands in the first place
  for (const OptionPage& option : page.options) {
    if (!option.positional) continue;
    if (!page.commands.empty()) {
      otherwise = zsh_action(option, program);
    } else {
      text += " \\\n    " + single_quoted("*" + zsh_value(option, program));
    }
  }
  if (page.commands.empty()) return text + "\n}\n\n";
  text += " \\\n    '1: :->first' '*:: :->rest'\n  case $state in\n    first)\n      commands=(\n";
  for (const CommandPage& command : page.commands) {
    for (const std::string& each : command.names) {
      text += "        " + single_quoted(each + ":" + zsh_text(command.help)) + "\n";
    }
  }
  text += "      )\n      _describe command commands\n";
  if (!otherwise.empty()) text += fmt::format("      {}\n", otherwise);
  text += "      ;;\n    rest)\n      case $line[1] in\n";
  for (const CommandPage& command : page.commands) {
    text += fmt::format("        {}) {}_{} ;;\n", fmt::join(command.names, "|"), name,
                        command.names.front());
  }
  return text + "      esac\n      ;;\n  esac\n}\n\n";
}

}  // namespace

std::string zsh_completion(const CommandPage& program) {
  const std::string& name = program.names.front();
  std::string functions;
  for (const CommandPage* page : all_commands(program)) functions += zsh_function(*page, name);
  return filled_script(kZsh, {{"PROGRAM", name},
                              {"<<KEYS>>", key_words()},
                              {"<<VALUES>>", value_cases()},
                              {"<<FUNCTIONS>>", functions}});
}

}  // namespace windtunnel
