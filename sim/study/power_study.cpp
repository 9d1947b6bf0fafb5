#include "sim/study/power_study.hpp"

#include "models/cost/chunk/step_work.hpp"

namespace windtunnel {

PowerReport study_power(const PowerSpec& spec, const Record& record) {
  const Job& job = record.job;
  const auto [from_s, to_s] = reported_span(job, record.plan, record.timeline);
  PoweredStep step(job.cluster, record.plan, record.timeline, from_s, to_s);
  const auto reported = [&](const PowerSpec& own) {
    PowerReport report = step.report(own);
    add_energy(report, record.iteration.time_s, tokens_per_step(job), job.tokens);
    add_machines(report, job.cluster, job.recovery.spares);
    if (record.campaign) {
      add_campaign(report, *record.campaign, job.cluster, job.recovery.spares);
    }
    return report;
  };
  PowerReport report = reported(spec);
  for (const PowerVariant& variant : power_variants(spec)) {
    report.at_low.push_back(reported(variant.low));
    report.at_high.push_back(reported(variant.high));
  }
  return report;
}

}  // namespace windtunnel
