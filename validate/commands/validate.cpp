// windtunnel validate: compares predictions with measured rows of CSV files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/program/command.hpp"
#include "cli/program/command_line.hpp"
#include "validate/commands/validate_commands.hpp"
#include "validate/commands/validate_samples.hpp"
#include "validate/commands/validations.hpp"
#include "validate/commands/verdict.hpp"
#include "validate/pages/calibration_answer.hpp"

namespace windtunnel {
namespace {

CLI::Option* add_text(CLI::App& app, const char* name, std::string& text, const char* type,
                      const std::string& help) {
  return app.add_option(name, text, help)->type_name(type);
}

void add_worst(CLI::App& app, ValidateOptions& options) {
  app.add_option("--worst", options.worst,
                 "number of rows with the largest errors to print (default: 5)")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000));
}

void add_share_outside(CLI::App& app, ValidateOptions& options) {
  CommandLine(app).add_json(options.json);
  app.add_option("--fail-above", options.fail_above,
                 "exit with 1 if more than this share of the values is outside of its range")
      ->type_name("SHARE")
      ->check(number_in(0.0, 1.0));
}

CLI::App* define_kind(CLI::App& validate, const JudgedKind& kind, ValidateOptions& options) {
  CLI::App* app = validate.add_subcommand(kind.name, kind.help);
  app->add_option("FILE", options.files, kind.files)->required();
  if (kind.bound.empty()) {
    add_share_outside(*app, options);
  } else {
    add_verdict(*app, options, kind.bound.c_str());
  }
  add_page_option(*app, options.page);
  if (!kind.where.empty()) {
    add_text(*app, "--where", options.where, "EXPR",
             fmt::format("judge only these rows, as in '{}'", kind.where));
  }
  if (!kind.fit_where.empty()) {
    add_text(*app, "--fit-where", options.fit_where, "EXPR", kind.fit_where);
  }
  if (!kind.calibrate_on.empty()) {
    app->add_option("--calibrate-on", options.calibrate_on, kind.calibrate_on)
        ->type_name("FILE")
        ->allow_extra_args(false);
  }
  if (!kind.calibration.empty()) {
    add_text(*app, "--calibration", options.calibration, "NAME|FILE", kind.calibration);
  }
  if (kind.worst) add_worst(*app, options);
  if (kind.threads) add_threads(*app, options);
  if (!kind.markdown.empty()) {
    add_text(*app, "--markdown", options.markdown, "FILE", kind.markdown);
  }
  if (kind.add != nullptr) kind.add(*app, options);
  add_example(*app, kind.example);
  return app;
}

// Adds options that most kinds of rows have, for files that are recognised by their header.
void add_files(CLI::App& app, ValidateOptions& options) {
  app.add_option("FILE", options.files,
                 "measured rows (CSV), or a folder of such files; the header shows which command "
                 "judges a file");
  add_verdict(app, options, kBoundOfAnyKind);
  add_page_option(app, options.page);
  add_text(app, "--where", options.where, "EXPR", "judge only these rows, as in 'gpus>8'");
  add_worst(app, options);
  add_threads(app, options);
  add_text(app, "--markdown", options.markdown, "FILE", "write a page with every miss");
}

// A subcommand only reads options after its name, so earlier ones would be ignored.
void check_nothing_before(const CLI::App& app, const std::string& command) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->check_lname("quiet")) continue;
    const std::string given =
        option->get_positional() ? option->results().front() : option->get_name();
    throw CLI::ParseError(
        fmt::format("'{}' is before the command '{}', but options must be after it", given,
                    command),
        CLI::ExitCodes::ExtrasError);
  }
}

constexpr const char* kStepIsGone =
    "'validate step' was removed: 'windtunnel validate execution SCENARIO --kernels cpu' runs the "
    "plan of a small job in processes of this machine, and 'windtunnel validate samples' compares "
    "predicted kernels with their timings";

// A word that is not a file is a subcommand, or a misspelt one.
void check_files(const CLI::App& app, const ValidateOptions& options) {
  if (const auto given = app.get_subcommands(); !given.empty()) {
    return check_nothing_before(app, given.front()->get_name());
  }
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(command->get_name());
  }
  if (options.files.empty()) {
    throw CLI::ParseError(fmt::format("expected a FILE of measured rows, or a command: {}",
                                      fmt::join(commands, ", ")),
                          CLI::ExitCodes::RequiredError);
  }
  const std::string& word = options.files.front();
  std::error_code unknown;
  if (std::filesystem::exists(word, unknown)) return;
  if (word == "step") throw Error(kStepIsGone);  // even if it is followed by its former options
  if (nearest_name(word, commands).empty()) return;
  throw CLI::ParseError(unknown_name("command", word, commands), CLI::ExitCodes::ExtrasError);
}

}  // namespace

Handler define_validate(CLI::App& app) {
  auto options = std::make_shared<ValidateOptions>();
  std::vector<ValidationCommand> commands;
  for (const JudgedKind& kind : judged_kinds()) {
    commands.push_back({define_kind(app, kind, *options), [options, &kind] {
                          if (!options->row.empty()) return write_row(*options);
                          check_kind(kind, *options);
                          return conclude(kind.name, kind.judge(*options), *options,
                                          commands_of(*options, kind.name));
                        }});
  }
  commands.push_back(define_validate_all(app));
  commands.push_back(define_validate_samples(app, kernels_page));
  commands.push_back(define_validate_execution(app));
  add_files(app, *options);
  add_example(app, "runs.csv --worst 10");
  app.require_subcommand(0, 1);
  app.parse_complete_callback([&app, options] { check_files(app, *options); });
  return [&app, options, commands] {
    const auto given = std::ranges::find_if(
        commands, [](const ValidationCommand& each) { return each.command->parsed(); });
    return given == commands.end() ? validate_files(app, *options) : given->run();
  };
}

}  // namespace windtunnel
