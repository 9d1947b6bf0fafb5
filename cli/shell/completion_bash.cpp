#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "cli/shell/completion.hpp"
#include "cli/shell/completion_script.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kBash =
    R"sh(# bash completion for PROGRAM. To load it: source <(PROGRAM completion bash)

_PROGRAM_keys() {
  echo '<<KEYS>>'
}

# Of a key with * for its indices, the words that it takes.
_PROGRAM_values() {
  case $1 in
<<VALUES>>    *) ;;
  esac
}

# From the command at $1 into $2: the path of the command there.
_PROGRAM_enter() {
  case $1/$2 in
<<ENTER>>    *) return 1 ;;
  esac
}

_PROGRAM_commands() {
  case $1 in
<<COMMANDS>>    *) ;;
  esac
}

_PROGRAM_options() {
  case $1 in
<<OPTIONS>>    *) ;;
  esac
}

# What follows the option $2 of the command $1; nothing: it is a flag.
_PROGRAM_option_kind() {
  case "$1 $2" in
<<KINDS>>    *) ;;
  esac
}

_PROGRAM_argument_kind() {
  case $1 in
<<ARGUMENTS>>    *) ;;
  esac
}

# What compgen says of $cur is offered.
_PROGRAM_add() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$@" -- "$cur")
}

# KEY=VALUE, KEY=A,B,C
_PROGRAM_key() {
  local index=0 key keys before=
  if [[ $cur == *=* ]]; then
    key=${cur%%=*}
    cur=${cur#*=}
    [[ $COMP_WORDBREAKS == *=* ]] || before=$key=  # else a word of its own begins behind it
    if [[ $cur == *,* ]]; then
      before=$before${cur%,*},
      cur=${cur##*,}
    fi
    while [[ $key =~ ^(.*)\.[0-9]+(.*)$ ]]; do key="${BASH_REMATCH[1]}.*${BASH_REMATCH[2]}"; done
    _PROGRAM_add -P "$before" -W "$(_PROGRAM_values "$key")"
    return
  fi
  compopt -o nospace 2>/dev/null
  [[ $cur =~ \.([0-9]+)(\.|$) ]] && index=${BASH_REMATCH[1]}
  keys=$(_PROGRAM_keys)
  _PROGRAM_add -S = -W "${keys//\*/$index}"
}

_PROGRAM_value() {
  case $1 in
    'choice '*) _PROGRAM_add -W "${1#choice }" ;;
    key) _PROGRAM_key ;;
    scenario)
      compopt -o filenames 2>/dev/null
      _PROGRAM_add -d
      _PROGRAM_add -f -X '!*.yaml'
      _PROGRAM_add -f -X '!*.json'
      ;;
    folder) compopt -o filenames 2>/dev/null; _PROGRAM_add -d ;;
    file) compopt -o filenames 2>/dev/null; _PROGRAM_add -f ;;
    *) ;;
  esac
}

_PROGRAM() {
  local cur path= into word option= i
  local -a words=()
  COMPREPLY=()
  # bash takes "key=value" for three words.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if ((i > 1)) && [[ ${COMP_WORDS[i]} == = || ${COMP_WORDS[i - 1]} == = ]]; then
      words[${#words[@]} - 1]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  cur=${words[${#words[@]} - 1]}
  for word in "${words[@]:1:${#words[@]} - 2}"; do
    if [[ -n $option ]]; then
      option=
    elif [[ $word == -*=* ]]; then
      continue
    elif [[ $word == -* ]]; then
      [[ -n $(_PROGRAM_option_kind "$path" "$word") ]] && option=$word
    elif into=$(_PROGRAM_enter "$path" "$word"); then
      path=$into
    fi
  done
  if [[ -z $option && $cur == -*=* ]]; then
    option=${cur%%=*}
    cur=${cur#*=}
  fi
  if [[ -n $option ]]; then
    _PROGRAM_value "$(_PROGRAM_option_kind "$path" "$option")"
  elif [[ $cur == -* ]]; then
    _PROGRAM_add -W "$(_PROGRAM_options "$path")"
  else
    _PROGRAM_add -W "$(_PROGRAM_commands "$path")"
    _PROGRAM_value "$(_PROGRAM_argument_kind "$path")"
  fi
}

complete -F _PROGRAM PROGRAM
)sh";

// What the script calls what may stand there: "choice cpu cuda", "scenario"; of a flag nothing.
std::string kind_name(const OptionPage& option) {
  switch (option.kind) {
    case ValueKind::flag:
      return "";
    case ValueKind::text:
      return "text";
    case ValueKind::choice:
      return fmt::format("choice {}", fmt::join(option.choices, " "));
    case ValueKind::scenario:
      return "scenario";
    case ValueKind::file:
      return "file";
    case ValueKind::folder:
      return "folder";
    case ValueKind::key:
      return "key";
  }
  return "";
}

std::vector<std::string> command_words(const CommandPage& page) {
  std::vector<std::string> words;
  for (const CommandPage& command : page.commands) {
    words.insert(words.end(), command.names.begin(), command.names.end());
  }
  return words;
}

}  // namespace

std::string bash_completion(const CommandPage& program) {
  std::string enter, commands, options, kinds, arguments;
  for (const CommandPage* page : all_commands(program)) {
    for (const CommandPage& command : page->commands) {
      std::string places;
      for (const std::string& name : command.names) {
        places += fmt::format("{}'{}/{}'", places.empty() ? "" : " | ", page->path, name);
      }
      enter += fmt::format("    {}) echo '{}' ;;\n", places, command.path);
    }
    if (!page->commands.empty()) {
      commands +=
          fmt::format("    '{}') echo '{}' ;;\n", page->path, fmt::join(command_words(*page), " "));
    }
    std::vector<std::string> names;
    std::string argument;  // the last one: it may be there several times
    for (const OptionPage& option : page->options) {
      if (option.positional) {
        argument = kind_name(option);
        continue;
      }
      for (const std::string& name : option.names) {
        names.push_back(name);
        if (option.kind == ValueKind::flag) continue;
        kinds += fmt::format("    '{} {}') echo '{}' ;;\n", page->path, name, kind_name(option));
      }
    }
    options += fmt::format("    '{}') echo '{}' ;;\n", page->path, fmt::join(names, " "));
    if (!argument.empty())
      arguments += fmt::format("    '{}') echo '{}' ;;\n", page->path, argument);
  }
  return filled_script(kBash, {{"PROGRAM", program.names.front()},
                               {"<<KEYS>>", key_words()},
                               {"<<VALUES>>", value_cases()},
                               {"<<ENTER>>", enter},
                               {"<<COMMANDS>>", commands},
                               {"<<OPTIONS>>", options},
                               {"<<KINDS>>", kinds},
                               {"<<ARGUMENTS>>", arguments}});
}

}  // namespace windtunnel
