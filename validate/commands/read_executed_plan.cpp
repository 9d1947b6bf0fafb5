#include "validate/commands/read_executed_plan.hpp"

#include <fmt/format.h>

#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/error.hpp"
#include "validate/harness/collectives/nccl_collectives.hpp"
#include "validate/harness/execute/testbed.hpp"
#include "validate/harness/ranks/group_devices.hpp"

namespace windtunnel {
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

// Why a testbed cannot have the cluster's rates: it needs nodes with one port each, all of one
// rate, and a fabric of pods without faults. "": it can.
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
