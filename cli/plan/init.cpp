// windtunnel init: writes a scenario to start from, with a comment on each part.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/plan/plan_arguments.hpp"
#include "cli/plan/plan_options.hpp"
#include "cli/program/command.hpp"
#include "cli/program/output.hpp"
#include "cli/program/shell_line.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {
namespace {

struct InitCommand {
  std::string file;
  PlanOptions asked = {.cluster = "8 x dgx-h100", .model = "llama3-8b", .tokens = "1 T"};
  bool force = false;
};

ExitCode run(const InitCommand& command) {
  std::error_code ignored;
  if (!command.force && std::filesystem::exists(command.file, ignored)) {
    throw Error(Location{command.file}, "already exists; --force overwrites it");
  }
  check_folder_of(command.file);
  PlanRequest request = request_of(command.asked);
  request.written_model = model_value_from(request.model, command.file);
  const FirstScenario first = first_scenario(request);
  write_file(command.file, first.text);
  if (!first.basis.model_note.empty()) {
    print_human(fmt::format("The model {}.\n", first.basis.model_note), false);
  }
  const std::string few = few_steps_text(first.basis, first.basis.batch_tokens);
  if (!few.empty()) print_human(fmt::format("Few steps: {}.\n", few), false);
  print_human(fmt::format("{} contains a job that fits; its layout was found in closed form. "
                          "Next:\n  windtunnel run {} --out out\n",
                          command.file, shell_word(command.file)),
              false);
  return ExitCode::ok;
}

}  // namespace

Handler define_init(CLI::App& app) {
  auto command = std::make_shared<InitCommand>();
  app.add_option("FILE", command->file, "the scenario to write (YAML)")->required();
  add_plan_options(app, command->asked);
  app.add_flag("--force", command->force, "overwrite the file");
  add_example(app, "my-job.yaml --cluster '8 x dgx-h100' --model llama3-8b");
  return [command] { return run(*command); };
}

}  // namespace windtunnel
