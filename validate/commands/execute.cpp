// windtunnel execute: runs the plan of a scenario for real, and compares it with its simulation.

#include <fmt/format.h>

#include <memory>
#include <sstream>
#include <utility>

#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/command_line.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/error.hpp"
#include "traces/chakra/chakra.hpp"
#include "traces/perfetto/perfetto.hpp"
#include "validate/accuracy/execution/executed_plan.hpp"
#include "validate/commands/validate_commands.hpp"
#include "validate/harness/collectives/nccl_collectives.hpp"
#include "validate/harness/execute/testbed.hpp"
#include "validate/harness/ranks/group_devices.hpp"
#include "validate/pages/execution_answer.hpp"

namespace windtunnel {
namespace {

struct ExecuteCommandOptions {
  std::string scenario;
  std::vector<std::string> set;
  std::string budget = "10 s";
  std::string out;
  double scale = 0;
  int ranks_per_node = 0;
  std::string kernels;
  bool nccl = false;
  bool testbed = false;
  AnswerOutput output;
};

void write_trace(const std::string& path, const Plan& plan, const Timeline& timeline) {
  std::ostringstream trace;
  write_perfetto(trace, plan, timeline);
  write_file(path, trace.str());
}

// Writes one execution, with a file for each rank.
void write_executed_chakra(const std::string& folder, const ExecutedPlan& executed,
                           const Timeline& measured) {
  const Plan ran = measured_plan(executed.plan, measured);
  const ChakraExport files(ran, ChakraRanks::all, {"scenario: " + executed.scenario});
  for (int file = 0; file < files.files(); ++file) {
    write_file(fmt::format("{}/executed.{}.et", folder, files.rank(file)), files.content(file));
  }
}

ExitCode run(const ExecuteCommandOptions& options) {
  const double budget_s = budget_of(options.budget);
  ExecutedPlan executed = read_executed_plan(options.scenario, options.set, options.ranks_per_node);
  executed.testbed = options.testbed && testbed_is_there(executed.cluster);
  take_kernels(executed, options.kernels);
  if (options.nccl) take_nccl(executed);
  if (!options.out.empty()) prepare_folder(options.out);
  Timeline predicted = predicted_timeline(executed);
  const ExecutionScale scale = fitting_scale(executed, predicted, budget_s, options.scale);
  const Executions executions = execute_within(executed, std::move(predicted), budget_s, scale);
  const ExecutionComparison comparison =
      compare_execution(executed, executions.predicted, executions.measured);
  std::string written;
  if (!options.out.empty()) {
    write_trace(options.out + "/predicted.json", executed.plan, executions.predicted);
    const Timeline& usual = usual_execution(executed, executions.measured, comparison);
    write_trace(options.out + "/executed.json", executed.plan, usual);
    write_executed_chakra(options.out, executed, usual);
    written = beside(
        fmt::format("\nwrote {0}/predicted.json, {0}/executed.json (for ui.perfetto.dev) and "
                    "{0}/executed.RANK.et (Chakra)\n",
                    options.out));
  }
  hand_out(execution_answer(executed, executions, comparison), options.output, written);
  return ExitCode::ok;
}

}  // namespace

Handler define_execute(const CommandLine& app) {
  auto options = std::make_shared<ExecuteCommandOptions>();
  app.add_option("SCENARIO", options->scenario, "scenario file (YAML) of at most 64 ranks")
      .required();
  app.add_set(options->set);
  app.add_option("--ranks-per-node", options->ranks_per_node,
                 "ranks on each node, instead of the scenario's", "N")
      .check(whole_in(1, kMostExecutedRanks));
  app.add_option("--scale", options->scale,
                 "divide the scenario's times by K, and bytes by K or more (default: as fits)", "K")
      .check(number_in(1e-6, 1e9));
  app.add_option("--budget", options->budget,
                 "time budget, within which the plan is executed repeatedly (default: 10 s)",
                 "TIME");
  app.add_option("--out", options->out,
                 "write traces here: predicted.json, executed.json, executed.RANK.et", "DIR");
  add_kernels_option(app, options->kernels);
  app.add_flag(
      "--testbed", options->testbed,
      "make each node a network namespace, with link rates enforced by the kernel (needs root)");
  app.add_flag("--nccl", options->nccl,
               "run collectives of all ranks through NCCL on GPUs, at full speed")
      .excludes(app.option("--testbed"));
  add_answer_output(app, options->output);
  add_example(app, "scenarios/small.yaml --budget '5 s'");
  return [options] { return run(*options); };
}

namespace {

// Uses nodes of `ranks_per_node` GPUs, as many as hold the scenario's GPUs.
Overrides nodes_of(const Case& the_case, int ranks_per_node) {
  const int gpus = the_case.job.cluster.gpus();
  if (gpus % ranks_per_node != 0) {
    throw Error(fmt::format("--ranks-per-node {} does not divide the scenario's {} ranks",
                            ranks_per_node, gpus));
  }
  return {{"cluster.nodes", fmt::format("{}", gpus / ranks_per_node)},
          {"cluster.node.gpus", fmt::format("{}", ranks_per_node)}};
}

// Returns why a testbed cannot have the cluster's rates; "" if it can. Its nodes must be alike, it
// degrades only whole ports, and it emulates neither faulty links nor background traffic.
std::string why_no_testbed_of(const Cluster& cluster) {
  if (!cluster.pools.empty()) return "its nodes differ";
  if (!cluster.degraded_nics.empty() && cluster.node.nics > 1) {
    return "some NICs of its ports are degraded";
  }
  if (!cluster.fabric.faults.empty()) return "some of its links are faulty";
  if (!cluster.fabric.background.empty()) return "it has background traffic";
  return "";
}

}  // namespace

ExecutedPlan read_executed_plan(const std::string& path, const std::vector<std::string>& set,
                                int ranks_per_node) {
  const LoadedScenario scenario = load_scenario(path, parse_overrides(set));
  if (has_jobs(scenario.text)) {
    if (ranks_per_node > 0) {
      throw Error(
          "--ranks-per-node applies to one job; with several jobs the scenario states their nodes");
    }
    return executed_plan(resolve_company(scenario.text));
  }
  const Case the_case = scenario.at();
  if (ranks_per_node <= 0) return executed_plan(the_case);
  return executed_plan(scenario.at(nodes_of(the_case, ranks_per_node)));
}

void add_kernels_option(const CommandLine& app, std::string& device) {
  app.add_option("--kernels", device,
                 "run real kernels instead of waits, as many as fill the time (needs a core or a "
                 "device per rank)",
                 "cpu|cuda")
      .check(one_of("kernels", {"cpu", "cuda"}));
}

void take_kernels(ExecutedPlan& executed, const std::string& device) {
  if (device.empty()) return;
  const DeviceKind kind = device == "cuda" ? DeviceKind::cuda : DeviceKind::cpu;
  executed.kernels = measured_kernels(kind, executed.plan.ranks, executed.compressor);
}

void take_nccl(ExecutedPlan& executed) {
  const std::string built = why_no_nccl();
  if (!built.empty()) throw Error("--nccl: " + built);
  const UsableDevices usable = usable_devices(DeviceKind::cuda);
  if (usable.count == 0) throw Error("--nccl: " + usable.why_none);
  executed.nccl = true;
}

bool testbed_is_there(const Cluster& cluster) {
  const std::string of_cluster = why_no_testbed_of(cluster);
  const std::string fault = of_cluster.empty() ? why_no_testbed() : of_cluster;
  if (fault.empty()) return true;
  print_human(
      fmt::format("the testbed is not available here ({}); link rates are enforced in user space\n",
                  fault),
      true);
  return false;
}

}  // namespace windtunnel
