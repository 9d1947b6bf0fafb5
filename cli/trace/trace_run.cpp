#include "cli/trace/trace_run.hpp"

#include <fmt/format.h>

#include "models/base/error.hpp"
#include "policies/analysis/plan_bound.hpp"
#include "sim/engine/engine.hpp"
#include "traces/chakra/trace_machine.hpp"

namespace windtunnel {

void check_ranks(const Case& on, std::int64_t ranks, const std::string& scenario) {
  const int gpus = on.job.cluster.gpus();
  if (ranks <= gpus) return;
  throw Error(fmt::format("the traces are of {} ranks, the machine of {} has {} GPUs", ranks,
                          scenario, gpus));
}

void check_machine(const Case& on, const Plan& plan, const std::string& scenario) {
  const Job& job = on.job;
  if (job.cluster.jitter.active()) {
    on.places.placing([] {
      throw Error::of_key("cluster.jitter",
                          "is averaged over draws, and traces are simulated once; take it out");
    });
  }
  check_ranks(on, plan.ranks, scenario);
}

Timeline time_on_machine(const Case& on, Plan& plan, bool foreign) {
  const Job& job = on.job;
  run_collectives_as(job, plan);
  if (foreign) add_latencies(plan, job.cluster, job.calibration);
  const Timeline timeline = execute(plan, job.cluster,
                                    {.fold = job.fold,
                                     .calibration = job.calibration,
                                     .pool_calibrations = job.pool_calibrations});
  check_bound(plan, job.cluster, timeline);
  return timeline;
}

}  // namespace windtunnel
