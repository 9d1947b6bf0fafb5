// The commands of a program, copied from its parser as plain values. The manual page and the
// completions of shells are made from them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace windtunnel {

// The kind of an option's value or of an argument, as far as a shell can complete it.
enum class ValueKind { flag, text, choice, scenario, file, folder, key };

struct OptionPage {
  std::vector<std::string> names;  // "--set", "-j"; "SCENARIO" for a positional argument
  bool positional = false;
  ValueKind kind = ValueKind::flag;
  std::string value = {};                 // "KEY=VALUE"; empty for a flag
  std::vector<std::string> choices = {};  // of ValueKind::choice
  std::string help = {};
  bool required = false;
  bool list = false;     // takes several values
  bool numeric = false;  // takes only numbers
};

struct CommandPage {
  std::string path;  // "sweep run"; "" for the program itself
  std::vector<std::string> names;
  std::string help;
  std::string usage;       // "windtunnel sweep run [OPTIONS] DIR"
  std::string footer;      // examples
  bool elsewhere = false;  // in the sibling program; this one knows only its name
  std::vector<OptionPage> options;
  std::vector<CommandPage> commands;
};

CommandPage command_tree(const CLI::App& program);

// Returns all commands, outer ones first.
std::vector<const CommandPage*> all_commands(const CommandPage& page);

// Writes the manual page of a program in the man(7) format of groff and mandoc.

// `build` is version and commit, for the page's footer. `elsewhere` returns the text about a
// command of the sibling program.
using ManualOf = std::function<std::string(const std::string& command)>;
std::string man_page(const CommandPage& program, const std::string& build,
                     const ManualOf& elsewhere);

// Returns the manual's section on a command and its subcommands.
std::string command_manual(const CommandPage& command);

}  // namespace windtunnel
