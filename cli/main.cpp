// The program: reads the command line, runs one subcommand, turns failures into messages and exit
// codes. The only place that does.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/command.hpp"

namespace windtunnel {

const char* program_version() {
  return WINDTUNNEL_VERSION;
}

CLI::Validator number_in(double low, double high) {
  return CLI::Validator(
      [low, high](const std::string& text) {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool read = error == std::errc() && end == text.data() + text.size();
        if (read && value >= low && value <= high) return std::string();
        return fmt::format("Value {} not in range {:g} to {:g}", text, low, high);
      },
      fmt::format("FLOAT in [{:g} - {:g}]", low, high));
}

namespace {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {"run", "simulate a scenario: step time, memory, goodput, report", define_run},
      {"compare", "simulate it at every combination of varied values", define_compare},
      {"sweep", "months of it at every point of a grid, resumable and in shards", define_sweep},
      {"optimise", "the best layout, schedule, micro-batch and recomputation that fits",
       define_optimise},
      {"list", "what can be named in a scenario, with numbers and origins", define_list},
      {"schema", "print the JSON Schema of scenarios", define_schema},
      {"report", "draw the page of an earlier run again", define_report},
      {"schedule", "pipeline schedules: list, show, search, export, import", define_schedule},
      {"trace", "write tasks as Chakra execution traces, or simulate such traces", define_trace},
      {"validate", "predicted against measured", define_validate},
      {"calibrate", "fit the cost models to measured step times", define_calibrate}};
  return table;
}

constexpr const char* kExamples =
    "Examples:\n"
    "  windtunnel run scenarios/llama3-405b.yaml --out out\n"
    "  windtunnel run scenarios/llama3-405b.yaml --set cluster.fabric.pod_oversubscription=1\n"
    "  windtunnel compare scenarios/llama3-405b.yaml --vary layout.vpp=1,2,4,8\n"
    "  windtunnel sweep scenarios/llama3-405b.yaml --vary 'snapshots.1.every=5 min:4 h:10log' "
    "--out out\n"
    "\n"
    "Exit codes: 0 ok, 1 the run or validation failed, 2 usage or scenario error,\n"
    "3 points of a sweep are missing.\n";

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

// The parser met a command that it is in the middle of: the innermost one given.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  return given.empty() ? app : innermost(*given.front());
}

// A better word than the parser's for what it could not place: what was meant instead.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost(app);
  const std::vector<std::string> extras = app.remaining(true);
  for (const std::string& extra : extras) {
    if (extra.starts_with('-')) {
      return unknown_name("option", extra.substr(0, extra.find('=')), option_names(command));
    }
  }
  // A sweep has commands and does without one.
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
  std::string name;
  for (const CLI::App* at = &innermost(app); at != nullptr; at = at->get_parent()) {
    name = name.empty() ? at->get_name() : fmt::format("{} {}", at->get_name(), name);
  }
  return fmt::format("see '{} --help'", name);
}

void complain(const std::string& message) {
  std::fputs(("windtunnel: " + message + "\n").c_str(), stderr);
}

int exit_status(ExitCode code) {
  return static_cast<int>(code);
}

int run_program(int argc, char** argv) {
  CLI::App app(
      "Predicts a training job on thousands of GPUs: how long an iteration takes, and how\n"
      "much of months of wall time becomes progress.\n",
      "windtunnel");
  app.set_help_flag("-h,--help", "print this help");
  app.footer(kExamples);
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("windtunnel {}", program_version()),
                       "print the version");
  std::vector<std::pair<CLI::App*, Handler>> actions;
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    sub->footer("");
    actions.emplace_back(sub, command.define(*sub));
  }
  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return exit_status(ExitCode::usage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    complain(usage_message(app, error) + "\n" + help_hint(app));
    return exit_status(ExitCode::usage);
  }
  for (const auto& [sub, action] : actions) {
    if (sub->parsed()) return exit_status(action());
  }
  throw InternalError("no subcommand was parsed");
}

}  // namespace
}  // namespace windtunnel

int main(int argc, char** argv) {
  using windtunnel::complain;
  try {
    return windtunnel::run_program(argc, argv);
  } catch (const windtunnel::Error& error) {
    complain(error.what());
    return windtunnel::exit_status(error.code());
  } catch (const std::bad_alloc&) {
    complain("out of memory; ask for less at a time");
    return windtunnel::exit_status(windtunnel::ExitCode::failed);
  } catch (const std::exception& error) {
    complain(fmt::format("internal error, please report it: {}", error.what()));
    return windtunnel::exit_status(windtunnel::ExitCode::failed);
  }
}
