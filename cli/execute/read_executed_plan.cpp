#include "cli/execute/read_executed_plan.hpp"

#include <fmt/format.h>

#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/error.hpp"
#include "validate/harness/execute/testbed.hpp"

namespace windtunnel {
namespace {

// So many GPUs to a node, and as many nodes as hold the scenario's.
Overrides nodes_of(const Case& the_case, int ranks_per_node) {
  const int gpus = the_case.job.cluster.gpus();
  if (gpus % ranks_per_node != 0) {
    throw Error(fmt::format("--ranks-per-node {}: does not divide the scenario's {} ranks",
                            ranks_per_node, gpus));
  }
  return {{"cluster.nodes", fmt::format("{}", gpus / ranks_per_node)},
          {"cluster.node.gpus", fmt::format("{}", ranks_per_node)}};
}

}  // namespace

ExecutedPlan read_executed_plan(const std::string& path, const std::vector<std::string>& set,
                                int ranks_per_node) {
  const LoadedScenario scenario = load_scenario(path, parse_overrides(set));
  if (has_jobs(scenario.text)) {
    if (ranks_per_node > 0) {
      throw Error("--ranks-per-node is of one job; several have their nodes in the scenario");
    }
    return executed_plan(resolve_company(scenario.text));
  }
  const Case the_case = scenario.at();
  if (ranks_per_node <= 0) return executed_plan(the_case);
  return executed_plan(scenario.at(nodes_of(the_case, ranks_per_node)));
}

bool testbed_is_there() {
  const std::string fault = why_no_testbed();
  if (fault.empty()) return true;
  print_human(fmt::format("no testbed here ({}); links are held by buckets in user space\n", fault),
              true);
  return false;
}

}  // namespace windtunnel
