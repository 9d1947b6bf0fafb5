#include "sim/study/power_study.hpp"

#include "models/cost/chunk/step_work.hpp"

namespace windtunnel {

namespace {

PowerReport reported(const PowerSpec& spec, const Record& record) {
  const Job& job = record.job;
  const auto [from_s, to_s] = reported_span(job, record.plan, record.timeline);
  PowerReport report = power_report(spec, job.cluster, record.plan, record.timeline, from_s, to_s);
  add_energy(report, record.iteration.time_s, tokens_per_step(job), job.tokens);
  add_machines(report, job.cluster, job.recovery.spares);
  if (record.campaign) {
    add_campaign(report, *record.campaign, job.cluster, job.recovery.spares);
  }
  return report;
}

}  // namespace

PowerReport study_power(const PowerSpec& spec, const Record& record) {
  PowerReport report = reported(spec, record);
  for (const PowerVariant& variant : power_variants(spec)) {
    report.at_low.push_back(reported(variant.low, record));
    report.at_high.push_back(reported(variant.high, record));
  }
  return report;
}

}  // namespace windtunnel
