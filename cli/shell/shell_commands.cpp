// The commands `completion`, `man` and `__complete`, made from any program's commands.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/program/output.hpp"
#include "cli/program/program.hpp"
#include "cli/program/sibling.hpp"
#include "cli/shell/command_tree.hpp"
#include "cli/shell/completion.hpp"
#include "models/base/version.hpp"

namespace windtunnel {

namespace {

const char* name_of(ValueKind files) {
  switch (files) {
    case ValueKind::scenario:
      return "scenario";
    case ValueKind::file:
      return "file";
    case ValueKind::folder:
      return "folder";
    default:
      return "none";
  }
}

}  // namespace

void print_completion(const CLI::App& app, const std::vector<std::string>& words) {
  const Completion found = completion_of(command_tree(app), words);
  std::string text = fmt::format("{}\t{}\n", name_of(found.files), found.prefix);
  for (const auto& [word, help] : found.candidates) {
    std::string line = fmt::format("{}\t{}", word, help);
    std::ranges::replace(line, '\n', ' ');
    text += line + "\n";
  }
  print_result(text);
}

void print_manual(const CLI::App& app, const std::string& command) {
  const std::vector<CommandPage> commands = command_tree(app).commands;
  const auto found = std::ranges::find(commands, command, &CommandPage::path);
  if (found != commands.end()) print_result(command_manual(*found));
}

Handler define_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "the shell")
      ->required()
      ->check(one_of("shell", {"bash", "zsh", "fish"}));
  add_example(app, "bash > ~/.local/share/bash-completion/completions/windtunnel");
  return [&app, shell] {
    print_result(completion_script(*shell, app.get_parent()->get_name()));
    return ExitCode::ok;
  };
}

Handler define_man(CLI::App& app) {
  add_example(app, "> windtunnel.1 && man ./windtunnel.1");
  return [&app] {
    print_result(man_page(command_tree(*app.get_parent()), program_build(), sibling_manual));
    return ExitCode::ok;
  };
}

}  // namespace windtunnel
