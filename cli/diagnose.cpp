// windtunnel diagnose: is a run as fast as its job should be, and if not, why?
#include "sim/study/diagnose/diagnose.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "report/answer/diagnose_answer.hpp"
#include "traces/logs/training_log.hpp"

namespace windtunnel {
namespace {

struct DiagnoseOptions {
  std::string log;
  std::string job;
  std::vector<std::string> set;
  AnswerOutput output;
};

ExitCode run(const DiagnoseOptions& options) {
  check_folders(options.output);
  if (options.job.empty() && !options.set.empty()) {
    throw Error("--set changes keys of the job: name the job behind the log");
  }
  const TrainingLog log = read_training_log(options.log);
  std::optional<LoadedScenario> job;
  if (!options.job.empty()) job = load_scenario(options.job, parse_overrides(options.set));
  Progress progress;
  const Diagnosis diagnosis = diagnose(log, job ? &job->text : nullptr,
                                       [&](const std::string& step) { progress.show(step); });
  progress.wipe();
  hand_out(diagnose_answer(log, diagnosis, options.job), options.output);
  return ExitCode::ok;
}

}  // namespace

Handler define_diagnose(const CommandLine& app) {
  auto options = std::make_shared<DiagnoseOptions>();
  app.add_option("LOG", options->log,
                 "what the training program printed, or a CSV of TensorBoard or W&B")
      .required();
  app.add_option("JOB", options->job,
                 "the job that ran: a scenario, or the configuration that it was started with",
                 "SCENARIO");
  app.add_set(options->set);
  add_answer_output(app, options->output);
  add_example(app, "examples/logs/llama3-8b.log examples/logs/llama3-8b.yaml");
  return [options] { return run(*options); };
}

}  // namespace windtunnel
