#include "policies/evaluation/dispatch.hpp"

#include <algorithm>
#include <map>

#include "models/base/error.hpp"
#include "models/cost/op/block_cost.hpp"
#include "models/machine/fabrics/sites.hpp"

namespace windtunnel {
namespace {

bool dispatches(const Job& job, DispatchMode mode, DispatchProgram program) {
  const Software& software = job.software;
  return software.dispatch_latency_s > 0 && software.dispatch_mode == mode &&
         software.dispatch_program == program;
}

// [stage of the model] Whether its weight gradients are separate passes.
std::vector<bool> splitting_stages(const Schedule& schedule) {
  std::vector<bool> splits(schedule.model_stages(), false);
  for (const auto& actions : schedule.actions) {
    for (const Action& action : actions) {
      if (action.kind != ActionKind::backward_weight) continue;
      splits[schedule.model_stage(action.stage)] = true;
    }
  }
  return splits;
}

}  // namespace

double dispatch_ahead_s(const Job& job, const Schedule& schedule, int rank) {
  const double latency_s = job.software.dispatch_latency_s;
  if (dispatches(job, DispatchMode::asynchronous, DispatchProgram::step)) return latency_s;
  if (!dispatches(job, DispatchMode::asynchronous, DispatchProgram::pass)) return 0;
  return latency_s *
         static_cast<double>(std::ranges::count_if(
             schedule.actions[rank], [](const Action& action) { return is_compute(action.kind); }));
}

double dispatch_between_s(const Job& job) {
  const bool waits = dispatches(job, DispatchMode::synchronous, DispatchProgram::step);
  return waits ? job.software.dispatch_latency_s : 0;
}

double dispatched_s(const Job& job, const Schedule& schedule, double step_s) {
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    step_s = std::max(step_s, dispatch_ahead_s(job, schedule, rank));
  }
  return step_s + dispatch_between_s(job);
}

void add_dispatch_of_passes(const Job& job, const Schedule& schedule,
                            std::vector<ChunkCost>& units) {
  if (!dispatches(job, DispatchMode::synchronous, DispatchProgram::pass)) return;
  const std::vector<CostPart> wait = {
      {Category::host, Origin::assumed, job.software.dispatch_latency_s}};
  const std::vector<bool> splits = splitting_stages(schedule);
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    ChunkCost& cost = units[unit];
    add_costs(cost.forward, wait, 1);
    add_costs(cost.backward_input, wait, 1);
    if (splits[unit / schedule.slices]) add_costs(cost.backward_weight, wait, 1);
    if (schedule.explicit_recompute) add_costs(cost.recompute, wait, 1);
  }
}

std::vector<std::vector<std::int32_t>> gangs(const Job& job, int pp, int members) {
  const DispatchGang gang = job.software.dispatch_gang;
  if (gang == DispatchGang::none || members == 1) return {};
  std::map<int, std::vector<std::int32_t>> by_site;
  for (std::int32_t member = 0; member < members; ++member) {
    const int node = job.cluster.place_of(job.cluster.node_of(pp * members + member));
    by_site[gang == DispatchGang::all ? 0 : site_of(job.cluster, node)].push_back(member);
  }
  std::vector<std::vector<std::int32_t>> result;
  for (auto& [site, own] : by_site) result.push_back(std::move(own));
  return result;
}

}  // namespace windtunnel
