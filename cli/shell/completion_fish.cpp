#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "cli/shell/completion.hpp"
#include "cli/shell/completion_script.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kFish =
    R"sh(# fish completion for PROGRAM. To load it: PROGRAM completion fish | source

function __PROGRAM_path
  set -l path ''
  for word in (commandline -opc)[2..-1]
    switch "$path/$word"
<<ENTER>>    end
  end
  echo $path
end

function __PROGRAM_at
  set -l path (__PROGRAM_path)
  test "$path" = "$argv[1]"
end

function __PROGRAM_values
  switch $argv[1]
<<VALUES>>  end
end

# KEY=VALUE
function __PROGRAM_keys
  set -l token (commandline -ct)
  if string match -q '*=*' -- $token
    set -l key (string split -m 1 = -- $token)[1]
    for word in (__PROGRAM_values (string replace -ra '\.[0-9]+' '.*' -- $key))
      echo $key=$word
    end
  else
    set -l index (string match -r '\.([0-9]+)' -- $token)[2]
    test -n "$index"; or set index 0
    for key in <<KEYS>>
      string replace -a '*' $index -- $key=
    end
  end
end

complete -c PROGRAM -f
<<COMPLETE>>)sh";

// Within '...' a backslash stands before a quote and before itself.
std::string fish_quoted(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') word += '\\';
    word += c;
  }
  return word + "'";
}

std::string fish_value(const OptionPage& option, const std::string& program) {
  switch (option.kind) {
    case ValueKind::flag:
      return "";
    case ValueKind::choice:
      return fmt::format(" -x -a {}",
                         fish_quoted(fmt::format("{}", fmt::join(option.choices, " "))));
    case ValueKind::scenario:
      return " -x -a '(__fish_complete_suffix .yaml .json)'";
    case ValueKind::folder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::key:
      return fmt::format(" -x -a '(__{}_keys)'", program);
    case ValueKind::file:
      return " -r -F";
    case ValueKind::text:
      return " -x";
  }
  return "";
}

// A line for each command and option of the command.
std::string fish_lines(const CommandPage& page, const std::string& program) {
  const std::string at =
      fmt::format("complete -c {} -n {}", program,
                  fish_quoted(fmt::format("__{}_at \"{}\"", program, page.path)));
  std::string text;
  for (const CommandPage& command : page.commands) {
    for (const std::string& each : command.names) {
      text += fmt::format("{} -a {} -d {}\n", at, fish_quoted(each), fish_quoted(command.help));
    }
  }
  for (const OptionPage& option : page.options) {
    std::string names;
    for (const std::string& each : option.names) {
      if (option.positional) continue;
      const bool is_long = each.starts_with("--");
      names += fmt::format(" {} {}", is_long ? "-l" : "-s", each.substr(is_long ? 2 : 1));
    }
    text += fmt::format("{}{}{}{}\n", at, names, fish_value(option, program),
                        option.positional ? "" : " -d " + fish_quoted(option.help));
  }
  return text;
}

}  // namespace

std::string fish_completion(const CommandPage& program) {
  const std::string& name = program.names.front();
  std::string enter, values, lines, keys;
  for (const CommandPage* page : all_commands(program)) {
    for (const CommandPage& command : page->commands) {
      for (const std::string& each : command.names) {
        enter += fmt::format("      case '{}/{}'\n        set path '{}'\n", page->path, each,
                             command.path);
      }
    }
    lines += fish_lines(*page, name);
  }
  for (const SettableKey& key : settable_keys()) {
    keys += fmt::format("{}'{}'", keys.empty() ? "" : " ", key.key);
    if (key.words.empty()) continue;
    std::string literal;  // in `switch` a * would match anything
    for (const char c : key.key) literal += c == '*' ? std::string("\\*") : std::string(1, c);
    values +=
        fmt::format("    case {}\n      printf '%s\\n' {}\n", literal, fmt::join(key.words, " "));
  }
  return filled_script(kFish, {{"PROGRAM", name},
                               {"<<KEYS>>", keys},
                               {"<<VALUES>>", values},
                               {"<<ENTER>>", enter},
                               {"<<COMPLETE>>", lines}});
}

}  // namespace windtunnel
