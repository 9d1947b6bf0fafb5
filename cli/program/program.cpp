#include "cli/program/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <sstream>
#include <string_view>

#include "cli/program/output.hpp"
#include "cli/program/sibling.hpp"
#include "models/base/printable.hpp"
#include "models/base/version.hpp"

namespace windtunnel {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

// The innermost command given, in which parsing failed.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  return given.empty() ? app : innermost(*given.front());
}

// Says which word the parser rejected and suggests the nearest known option or command.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost(app);
  const std::vector<std::string> extras = app.remaining(true);
  for (const std::string& extra : extras) {
    if (!extra.starts_with('-')) continue;
    std::vector<std::string> known = option_names(command);
    if (extra.size() == 2) {  // "-o": suggests an option that begins so, not another letter
      std::erase_if(known, [&](const std::string& name) { return !name.starts_with("-" + extra); });
      const std::string meant = known.empty() ? "" : fmt::format("; did you mean '{}'?", known[0]);
      return fmt::format("unknown option '{}'{}", extra, meant);
    }
    if (extra.starts_with("--")) {  // does not suggest options with one dash
      std::erase_if(known, [](const std::string& name) { return !name.starts_with("--"); });
    }
    return unknown_name("option", extra.substr(0, extra.find('=')), known);
  }
  // A sweep has subcommands but does not require one.
  const std::vector<std::string> subcommands = command.get_require_subcommand_min() > 0
                                                   ? subcommand_names(command)
                                                   : std::vector<std::string>{};
  if (!extras.empty()) {
    if (!subcommands.empty()) return unknown_name("command", extras.front(), subcommands);
    return fmt::format("'{}' is one argument too many", extras.front());
  }
  if (!subcommands.empty() && command.get_subcommands().empty()) {
    return fmt::format("expected a command: {}", fmt::join(subcommands, ", "));
  }
  return error.what();
}

std::string help_hint(const CLI::App& app) {
  return fmt::format("see '{} --help'", typed_name(innermost(app)));
}

void complain(const CliProgram& program, const std::string& message) {
  std::fputs(fmt::format("{}: {}\n", program.name, printable(message, "\n\t")).c_str(), stderr);
}

int exit_status(ExitCode code) {
  return static_cast<int>(code);
}

void add_quiet(CLI::App& app, bool& quiet) {
  app.add_flag("-q,--quiet", quiet, "print only the answer, without progress and notes");
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    add_quiet(*sub, quiet);
  }
}

// CLI11 lists the options that one needs or excludes in the order of their addresses, which differs
// between builds. This sorts them alphabetically.
class HelpInOrder : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    text.erase(std::min({text.find(" Needs:"), text.find(" Excludes:"), text.size()}));
    return text + listed(" Needs:", option->get_needs()) +
           listed(" Excludes:", option->get_excludes());
  }

 private:
  static std::string listed(const char* title, const std::set<CLI::Option*>& options) {
    if (options.empty()) return "";
    std::vector<std::string> names;
    for (const CLI::Option* option : options) names.push_back(option->get_name());
    std::ranges::sort(names);
    return fmt::format("{} {}", title, fmt::join(names, " "));
  }
};

// The words without the program's name, in reverse order, as the parser takes them. "help run"
// becomes "run --help".
std::vector<std::string> arguments_of(const CliProgram& program, int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.front() == "help") {
    arguments.erase(arguments.begin());
    const bool known = arguments.empty() || std::ranges::any_of(program.commands, [&](auto& each) {
                         return each.name == arguments.front();
                       });
    if (known) arguments.emplace_back("--help");  // otherwise parsing reports an unknown command
  }
  std::ranges::reverse(arguments);
  return arguments;
}

// The typed command if it is in the sibling program; else nullptr. A word being completed is not a
// command yet.
const Command* sibling_command(const CliProgram& program, std::vector<std::string_view> words) {
  const bool completing = !words.empty() && words.front() == "__complete";
  if (completing) words.pop_back();
  if (!words.empty() && (completing || words.front() == "help")) words.erase(words.begin());
  const auto typed =
      std::ranges::find_if_not(words, [](std::string_view word) { return word.starts_with('-'); });
  if (typed == words.end()) return nullptr;
  const auto command = std::ranges::find(program.commands, *typed, &Command::name);
  return command == program.commands.end() || command->define ? nullptr : &*command;
}

// Adds all commands. Each defines its options when its name is met on the command line, because the
// choices of options are read from the library, which takes longer than most commands; with `all`,
// each defines them now. The returned map receives the handler of each command whose options are
// defined.
std::shared_ptr<std::map<const CLI::App*, Handler>> add_commands(const CliProgram& program,
                                                                 CLI::App& app, bool all,
                                                                 bool& quiet) {
  auto handlers = std::make_shared<std::map<const CLI::App*, Handler>>();
  for (const Command& command : program.commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    if (*command.alias != '\0') sub->alias(command.alias);
    if (!command.define) {
      sub->prefix_command();  // marks it for command_tree(); this program never parses it
      sub->footer(
          "Its options are those of windtunnel-validate, which is built and packaged together with "
          "windtunnel.");
      continue;
    }
    const auto define = [=, &quiet] {
      handlers->emplace(sub, command.define(*sub));
      add_quiet(*sub, quiet);
    };
    if (all) {
      define();
    } else {
      sub->preparse_callback([define](std::size_t) { define(); });
    }
  }
  return handlers;
}

int run(const CliProgram& program, int argc, char** argv) {
  if (const Command* command = sibling_command(program, {argv + 1, argv + argc})) {
    become_sibling(command->name, argv);
  }
  CLI::App app(program.description, program.name);
  app.formatter(std::make_shared<HelpInOrder>());
  app.set_help_flag("-h,--help", "print this help");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("{} {}", program.name, program_build()),
                       "print the version");
  // Completion, the manual page and the MCP server need the options of all commands.
  const bool asks_all = std::any_of(argv + 1, argv + argc, [](std::string_view word) {
    return word.starts_with("__") || word == "man" || word == "mcp";
  });
  bool quiet = false;
  const auto handlers = add_commands(program, app, asks_all, quiet);
  // Set last, because commands start with a copy of their parent's footer.
  app.footer(program.footer + environment_help());
  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return exit_status(ExitCode::usage);
  }
  if (argv[1] == std::string_view("__complete")) {  // the words must not be parsed
    print_completion(app, {argv + 2, argv + argc});
    return exit_status(ExitCode::ok);
  }
  if (argv[1] == std::string_view("__man") && argc == 3) {
    print_manual(app, argv[2]);
    return exit_status(ExitCode::ok);
  }
  try {
    app.parse(arguments_of(program, argc, argv));
  } catch (const CLI::Success& success) {  // --help, --version
    std::ostringstream text;
    const int status = app.exit(success, text, text);
    print_human(text.str(), false);
    return status;
  } catch (const CLI::ParseError& error) {
    complain(program, usage_message(app, error) + "\n" + help_hint(app));
    return exit_status(ExitCode::usage);
  }
  if (quiet) be_quiet();
  return exit_status(handlers->at(app.get_subcommands().front())());
}

}  // namespace

int run_program(const CliProgram& program, int argc, char** argv) {
  try {
    return run(program, argc, argv);
  } catch (const Error& error) {
    complain(program, error.what());
    return exit_status(error.code());
  } catch (const std::filesystem::filesystem_error& error) {  // a folder that cannot be read
    complain(program,
             fmt::format("{}: cannot be read: {}", error.path1().string(), error.code().message()));
    return exit_status(ExitCode::usage);
  } catch (const std::bad_alloc&) {
    complain(program, "out of memory; make the request smaller");
    return exit_status(ExitCode::failed);
  } catch (const std::exception& error) {
    complain(program, fmt::format("internal error, please report it: {}", error.what()));
    return exit_status(ExitCode::failed);
  }
}

std::string environment_help() {
  std::size_t widest = 0;
  for (const EnvironmentVariable& each : kEnvironment) {
    widest = std::max(widest, std::string_view(each.name).size());
  }
  std::string text = kEnvironmentTitle;
  for (const EnvironmentVariable& each : kEnvironment) {
    text += fmt::format("  {:<{}}  {}\n", each.name, widest, each.help);
  }
  return text;
}

}  // namespace windtunnel
