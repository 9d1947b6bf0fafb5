#include "report/summary/rollout_summary.hpp"

#include <fmt/format.h>

#include "report/figures/figures.hpp"

namespace windtunnel {
namespace {

// "64 GPUs in 16 engines of tp 4, beside 64 of the learner"
std::string pools_text(const RolloutReport& report) {
  const std::string engines =
      counted(report.engines, "engine") + " of " + counted(report.spec.engine.tp, "GPU");
  if (report.spec.colocated) {
    return fmt::format("{} on the learner's {}, in turn", engines, counted(report.gpus, "GPU"));
  }
  return fmt::format("{} on {}, the learner on {}", engines, counted(report.actor_gpus, "GPU"),
                     with_separators(report.gpus - report.actor_gpus));
}

// What the period consists of: shares of it, which come to more than all where phases overlap.
std::string phase_text(const RolloutReport& report, double seconds) {
  return fmt::format("{:>7}  {}", value_text(Unit::share, seconds / report.period_s),
                     value_text(Unit::seconds, seconds));
}

}  // namespace

SummarySection rollout_section(const Record& record) {
  const RolloutReport& report = *record.rollout;
  const auto text = [&](const char* key) { return figure(key).text(record); };
  SummarySection section{"Reinforcement learning", {}, {}};
  const auto add = [&](const char* key, const std::string& value) {
    section.rows.push_back({figure(key).title, value});
  };
  add("rollout.period_s",
      fmt::format("{} for {} samples of {} tokens behind prompts of {}, {}",
                  text("rollout.period_s"), with_separators(report.spec.batch()),
                  with_separators(report.output_tokens), with_separators(report.spec.prompt_length),
                  name_of(report.spec.mode)));
  section.rows.push_back({"pools", pools_text(report)});
  section.rows.push_back(
      {"throughput", fmt::format("{} samples/s, {} tokens/s", text("rollout.samples_per_s"),
                                 text("rollout.tokens_per_s"))});
  for (const char* key : {"rollout.usd_per_sample", "rollout.job_days", "rollout.job_cost_usd"}) {
    if (const std::string known = text(key); !known.empty()) add(key, known);
  }
  add("rollout.generation_s", phase_text(report, report.generation_s));
  add("rollout.training_s", phase_text(report, report.training_s));
  add("rollout.transfer_s", fmt::format("{}, {} to {} engines; its busiest link allows {}",
                                        phase_text(report, report.transfer.seconds),
                                        value_text(Unit::bytes, report.transfer.model_bytes),
                                        report.engines, text("rollout.transfer_bound_s")));
  if (report.switch_s > 0) add("rollout.switch_s", phase_text(report, report.switch_s));
  section.rows.push_back(
      {"idle", report.spec.colocated
                   ? fmt::format("{} of the GPUs' time, while long samples end",
                                 text("rollout.actors_idle"))
                   : fmt::format("engines {}, learner {} of the period",
                                 text("rollout.actors_idle"), text("rollout.learner_idle"))});
  add("rollout.running",
      fmt::format("{} on average while it has any; memory and rollout.engine.sequences allow {}",
                  text("rollout.running"), value_text(Unit::count, report.slots)));
  if (report.spec.mode != RolloutMode::synchronous) {
    add("rollout.staleness", fmt::format("{} versions", text("rollout.staleness")));
  }
  if (report.returned > 0) {
    add("rollout.returned", fmt::format("{} sequences of an iteration, as keys and values found no "
                                        "room, and computed again",
                                        text("rollout.returned")));
  }
  if (report.lost_share > 0) {
    section.rows.push_back(
        {"failures", fmt::format("engines are away for {} of their time and write {} again; the "
                                 "learner is available for {}",
                                 text("rollout.away_share"), text("rollout.lost_share"),
                                 value_text(Unit::share, report.availability))});
  }
  section.rows.push_back(
      {"rests on",
       "decoding as a roofline of the learner's calibration: no engine was measured "
       "(assumed); its error is not known to be that of training steps"});
  return section;
}

}  // namespace windtunnel
