#include "sim/study/power_study.hpp"

#include "models/cost/chunk/step_work.hpp"

namespace windtunnel {

PowerReport study_power(const PowerSpec& spec, const Record& record) {
  const Job& job = record.job;
  const SteadyWindow window = reported_window(job, record.plan);
  const auto end_s = [&](int iteration) {
    return foreground_end_s(record.plan, record.timeline, iteration);
  };
  const double from_s = window.last > window.first ? end_s(window.first) : 0;
  PowerReport report =
      power_report(spec, job.cluster, record.plan, record.timeline, from_s, end_s(window.last));
  add_energy(report, record.iteration.time_s, tokens_per_step(job), job.tokens);
  if (record.campaign) {
    add_campaign(report, *record.campaign, job.cluster, job.recovery.spares);
  }
  return report;
}

}  // namespace windtunnel
