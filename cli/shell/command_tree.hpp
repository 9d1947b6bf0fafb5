// The commands of a program as its parser knows them, as plain values: what the manual page and the
// completions of shells are written from.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace windtunnel {

// What may stand for an option's value or an argument, as far as a shell can help with it.
enum class ValueKind { flag, text, choice, scenario, file, folder, key };

struct OptionPage {
  std::vector<std::string> names;  // "--set", "-j"; of an argument that has a place "SCENARIO"
  bool positional = false;
  ValueKind kind = ValueKind::flag;
  std::string value = {};                 // "KEY=VALUE"; of a flag nothing
  std::vector<std::string> choices = {};  // of ValueKind::choice
  std::string help = {};
  bool required = false;
  bool list = false;     // takes several values
  bool numeric = false;  // takes numbers alone
};

struct CommandPage {
  std::string path;  // "sweep run"; of the program itself ""
  std::vector<std::string> names;
  std::string help;
  std::string usage;       // "windtunnel sweep run [OPTIONS] DIR"
  std::string footer;      // examples
  bool elsewhere = false;  // in the sibling program: nothing more is known of it here
  std::vector<OptionPage> options;
  std::vector<CommandPage> commands;
};

CommandPage command_tree(const CLI::App& program);

// All of them, the outer ones first.
std::vector<const CommandPage*> all_commands(const CommandPage& page);

// The manual page of a program, as man(7) of groff and mandoc reads it.

// `build`: version and commit, for the page's foot. `elsewhere` gives the text of a command that is
// in the sibling program.
using ManualOf = std::function<std::string(const std::string& command)>;
std::string man_page(const CommandPage& program, const std::string& build,
                     const ManualOf& elsewhere);

// What the page says of a command and those below it.
std::string command_manual(const CommandPage& command);

}  // namespace windtunnel
