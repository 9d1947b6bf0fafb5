// windtunnel diagnose: whether a run is as fast as its job should be, and if not, why.
#include "sim/study/diagnose/diagnose.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/collective_log.hpp"
#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "cli/program/shell_line.hpp"
#include "report/answer/command_answers.hpp"
#include "traces/chakra/chakra.hpp"
#include "traces/logs/training_log.hpp"
#include "traces/nccl/nccl_tests.hpp"
#include "traces/profile/profile_reader.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

struct DiagnoseOptions {
  std::string log;
  std::string job;
  std::vector<std::string> set;
  AnswerOutput output;
};

// Reads the output of nccl-tests as `expect` does, on the machine of the job.
ExitCode diagnose_collective(const DiagnoseOptions& options, const LoadedScenario* job) {
  const CollectiveKind kind = collective_of_log(options.log);
  if (job == nullptr) {
    throw Error(Location{options.log},
                fmt::format("is a log of nccl-tests: name the job whose machine was measured, or "
                            "the machine itself: windtunnel expect {} --cluster MACHINE --log {}",
                            to_string(kind), shell_word(options.log)));
  }
  const Case on = resolve_unprepared(job->text);
  if (!on.job.cluster.pools.empty()) {
    throw Error(on.places.where("cluster.pools"),
                "cluster.pools: a log of nccl-tests needs a machine with identical nodes");
  }
  ExpectRequest request = collective_request(on.job, kind);
  hand_out_reading(read_collective_log(options.log, request), on.job.cluster, options.output);
  return ExitCode::ok;
}

bool is_trace(const std::string& path) {
  return is_profile(path) && begins_as_profile(path) && !is_chakra_json(path);
}

bool holds_collectives(const std::string& text, const std::string& file) {
  try {
    return is_nccl_log(text) && !parse_nccl_tests(text, file, {}).rows.empty();
  } catch (const Error&) {
    return false;
  }
}

// Nothing if the file is output of nccl-tests.
std::optional<TrainingLog> read_steps(const std::string& path) {
  if (is_trace(path)) return profile_log(path);
  const std::string text = read_file(path);
  try {
    return parse_training_log(text, path);
  } catch (const Error&) {
    if (!holds_collectives(text, path)) throw;
    return {};
  }
}

ExitCode run(const DiagnoseOptions& options) {
  check_folders(options.output);
  if (options.job.empty() && !options.set.empty()) {
    throw Error("--set changes keys of the job: name the job after the log");
  }
  const std::optional<TrainingLog> log = read_steps(options.log);
  std::optional<LoadedScenario> job;
  if (!options.job.empty()) job = load_scenario(options.job, parse_overrides(options.set));
  if (!log) return diagnose_collective(options, job ? &*job : nullptr);
  Progress progress;
  const Diagnosis diagnosis = diagnose(*log, job ? &job->text : nullptr,
                                       [&](const std::string& step) { progress.show(step); });
  progress.wipe();
  Answer answer = diagnose_answer(*log, diagnosis, options.job);
  if (is_trace(options.log)) {
    answer.warnings.emplace_back(
        "a profiler slows the host, and so steps that wait for their host");
  }
  hand_out(answer, options.output);
  return ExitCode::ok;
}

}  // namespace

Handler define_diagnose(const CommandLine& app) {
  auto options = std::make_shared<DiagnoseOptions>();
  app.add_option("LOG", options->log,
                 "output of a training program or of nccl-tests, a CSV of TensorBoard or W&B, or a "
                 "profiler's trace (.json, .json.gz, .sqlite)")
      .required();
  app.add_option("JOB", options->job,
                 "the job that ran: a scenario, or the configuration with which it was started",
                 "SCENARIO");
  app.add_set(options->set);
  add_answer_output(app, options->output);
  add_example(app, "examples/logs/llama3-8b.log examples/logs/llama3-8b.yaml");
  return [options] { return run(*options); };
}

}  // namespace windtunnel
