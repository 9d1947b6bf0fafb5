// windtunnel import: makes a scenario from the configuration of a training program.
#include "scenarios/language/imports/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>

#include "cli/plan/plan_arguments.hpp"
#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "cli/program/shell_line.hpp"
#include "report/answer/command_answers.hpp"
#include "scenarios/language/imports/launch.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

struct ImportCommand {
  std::vector<std::string> files;
  std::string cluster;
  std::string model;
  std::string kind;
  std::string out;
  std::vector<std::string> set;
  AnswerOutput output;
};

ExitCode run(const ImportCommand& command) {
  check_output_file(command.out, command.files);
  check_folders(command.output);
  ImportRequest request;
  request.files = command.files;
  request.kind = command.kind;
  request.set = cluster_beside_file(command.cluster);
  if (!command.model.empty()) request.set.emplace_back("model", model_value(command.model));
  std::ranges::move(parse_overrides(command.set), std::back_inserter(request.set));
  const ImportedScenario imported = import_scenario(request);
  check_imported(imported);
  AnswerOutput output = command.output;
  if (!command.out.empty()) output.beside = {{command.out, imported.text}};
  const std::string next = command.out.empty() ? "\n" + imported.text
                                               : fmt::format("Next: windtunnel run {} --out out\n",
                                                             shell_word(command.out));
  hand_out(import_answer(imported), output, next);
  return ExitCode::ok;
}

}  // namespace

Handler define_import(CLI::App& app) {
  auto command = std::make_shared<ImportCommand>();
  const CommandLine line(app);
  line.add_option("FILES", command->files,
                  "the configuration of a run: launch script, YAML, TOML or JSON; with several "
                  "files, later ones override earlier ones")
      .required();
  line.add_option("--cluster", command->cluster,
                  "the machine: '16 x dgx-h100', or dgx-h100 if the files say how many nodes",
                  "TEXT");
  line.add_option(
      "--model", command->model,
      "the model, if the files do not say it: a name of `windtunnel list models` or a config.json",
      "NAME");
  line.add_option("--kind", command->kind,
                  "kind of the files, if they do not show it: " + configuration_kinds_text(),
                  "NAME");
  line.add_set(command->set);
  line.add_option("--out", command->out, "write the scenario for windtunnel run to this file",
                  "FILE");
  add_answer_output(line, command->output);
  add_example(line, "examples/configurations/llama3-70b.sh --cluster dgx-h100 --out job.yaml");
  return [command] { return run(*command); };
}

}  // namespace windtunnel
