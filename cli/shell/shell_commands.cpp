// `completion` and `man` of any program: both are written from the commands that it is a part of.
#include <memory>

#include "cli/program/command.hpp"
#include "cli/program/output.hpp"
#include "cli/shell/completion.hpp"
#include "cli/shell/man_page.hpp"
#include "models/base/version.hpp"

namespace windtunnel {

Handler define_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "whose completion is printed")
      ->required()
      ->check(one_of("shell", {"bash", "zsh", "fish"}));
  add_example(app, "bash > ~/.local/share/bash-completion/completions/windtunnel");
  return [&app, shell] {
    const CommandPage program = command_tree(*app.get_parent());
    print_result(*shell == "bash"  ? bash_completion(program)
                 : *shell == "zsh" ? zsh_completion(program)
                                   : fish_completion(program));
    return ExitCode::ok;
  };
}

Handler define_man(CLI::App& app) {
  add_example(app, "> windtunnel.1 && man ./windtunnel.1");
  return [&app] {
    print_result(man_page(command_tree(*app.get_parent()), program_build()));
    return ExitCode::ok;
  };
}

}  // namespace windtunnel
