#include <fmt/format.h>

#include "cli/trace/trace_parts.hpp"
#include "models/base/error.hpp"
#include "models/network/collectives/collective_interval.hpp"
#include "policies/analysis/plan_bound.hpp"
#include "sim/engine/engine.hpp"
#include "traces/chakra/trace_machine.hpp"

namespace windtunnel {

void check_ranks(const Case& on, std::int64_t ranks, const std::string& scenario) {
  const int gpus = on.job.cluster.gpus();
  if (ranks <= gpus) return;
  throw Error(fmt::format("the traces are of {} ranks, but {} has {} GPUs", ranks, scenario, gpus));
}

void check_machine(const Case& on, const Plan& plan, const std::string& scenario) {
  const Job& job = on.job;
  if (job.cluster.jitter.active()) {
    on.places.placing([] {
      throw Error::of_key(
          "cluster.jitter",
          "needs an average over random draws, but traces are simulated once; leave it out");
    });
  }
  check_ranks(on, plan.ranks, scenario);
}

namespace {

EngineOptions options_of(const Job& job) {
  return {
      .fold = job.fold, .calibration = job.calibration, .pool_calibrations = job.pool_calibrations};
}

}  // namespace

Timeline time_on_machine(const Case& on, Plan& plan, bool foreign) {
  const Job& job = on.job;
  run_collectives_as(job, plan);
  if (foreign) add_transfer_costs(plan, job.cluster, job.calibration);
  Timeline timeline = execute(plan, job.cluster, options_of(job));
  check_bound(plan, job.cluster, timeline);
  return timeline;
}

FigureRange step_range(const Case& on, const Plan& plan) {
  const auto step_s = [&](bool faster) {
    Job job = on.job;
    job.calibration = with_network_at_end(job.calibration, faster);
    for (Calibration& each : job.pool_calibrations) each = with_network_at_end(each, faster);
    const auto [large, small] = communication_error(job.cluster, job.calibration);
    Plan scaled = plan;
    run_collectives_as(job, scaled);
    add_transfer_costs(scaled, job.cluster, job.calibration);
    scale_communication(scaled, faster ? 1 / large : large, faster ? 1 / small : small);
    return execute(scaled, job.cluster, options_of(job)).makespan_s;
  };
  return {step_s(true), step_s(false)};
}

}  // namespace windtunnel
