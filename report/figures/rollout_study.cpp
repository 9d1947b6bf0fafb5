#include <fmt/format.h>

#include "models/results/rollout_report.hpp"
#include "report/figures/shown_studies.hpp"

namespace windtunnel {
namespace {

using enum Unit;
using enum Better;

// A member of the loop's report, or of its transfer of weights; nothing if the job has no loop.
template <auto member>
FigureValue of_loop(const Record& record) {
  const auto* report = record.studies.find<RolloutReport>();
  if (report == nullptr) return {};
  if constexpr (requires { report->transfer.*member; }) {
    return report->transfer.*member;
  } else {
    return static_cast<double>(report->*member);
  }
}

// The same for a member whose 0 means "none".
template <auto member>
FigureValue if_any(const Record& record) {
  const FigureValue value = of_loop<member>(record);
  const auto* number = std::get_if<double>(&value);
  return number != nullptr && *number > 0 ? value : FigureValue();
}

// The value for all of job.tokens at the loop's rate. Nothing if the scenario does not state
// tokens, or states steps: a batch of samples may take any number of steps.
FigureValue of_all_tokens(const Record& record, double (*value)(const RolloutReport&, double)) {
  const auto* report = record.studies.find<RolloutReport>();
  if (report == nullptr || record.job.tokens <= 0 || record.job.steps > 0) return {};
  const double known = value(*report, record.job.tokens / report->tokens_per_s);
  return known > 0 ? FigureValue(known) : FigureValue();
}

std::vector<Figure> times() {
  using Report = RolloutReport;
  return {{"rollout.period_s", "loop period", seconds, lower,
           "time of one iteration of reinforcement learning: samples, updates, new weights",
           of_loop<&Report::period_s>, kSimulated, Follows::time},
          {"rollout.generation_s", "generation", seconds, lower,
           "time to generate a batch of samples; asynchronous: the engines' time for a batch",
           of_loop<&Report::generation_s>, kSimulated, Follows::time},
          {"rollout.training_s", "training", seconds, lower,
           "time of updates from a batch, of further passes over it, and of rewards",
           of_loop<&Report::training_s>, kSimulated, Follows::time},
          {"rollout.transfer_s", "weights to engines", seconds, lower,
           "time to send one version of the weights to all engines",
           of_loop<&WeightTransfer::seconds>, kClosedForm, Follows::time},
          {"rollout.transfer_bound_s", "minimum for weights", seconds, lower,
           "time of the busiest link for its bytes of the weights, at its nominal rate",
           of_loop<&WeightTransfer::bound_s>, kClosedForm},
          {"rollout.switch_s", "switching", seconds, lower,
           "colocated: time to copy the training state to the host and back",
           if_any<&Report::switch_s>, kClosedForm, Follows::time}};
}

std::vector<Figure> rates() {
  using Report = RolloutReport;
  return {
      {"rollout.actors_idle", "idle engines", share, lower,
       "share of the period in which an engine neither generates samples nor receives weights",
       of_loop<&Report::actors_idle>},
      {"rollout.learner_idle", "idle learner", share, lower,
       "share of the period in which the learner neither learns nor sends weights",
       of_loop<&Report::learner_idle>},
      {"rollout.samples_per_s", "samples/s of the loop", count, higher,
       "samples per second, including failures of engines and learner",
       of_loop<&Report::samples_per_s>, kSimulated, Follows::rate},
      {"rollout.tokens_per_s", "tokens/s of the loop", count, higher,
       "tokens per second of the prompts and outputs of these samples",
       of_loop<&Report::tokens_per_s>, kSimulated, Follows::rate},
      {"rollout.usd_per_sample", "cost per sample", usd, lower,
       "cost of a sample, with all GPUs at job.price", if_any<&Report::usd_per_sample>, kSimulated,
       Follows::time},
      {"rollout.job_days", "time for all tokens", days, lower,
       "time to train job.tokens at the loop's rate",
       [](const Record& record) {
         return of_all_tokens(record,
                              [](const RolloutReport&, double taken_s) { return taken_s / 86400; });
       },
       kSimulated, Follows::time},
      {"rollout.job_cost_usd", "cost of all tokens", usd, lower,
       "cost of job.tokens at the loop's rate, with all GPUs at job.price",
       [](const Record& record) {
         return of_all_tokens(record, [](const RolloutReport& report, double taken_s) {
           return taken_s * report.samples_per_s * report.usd_per_sample;
         });
       },
       kSimulated, Follows::time},
      {"rollout.running", "sequences per engine", count, neither,
       "sequences that an engine runs at once on average, while it has any",
       of_loop<&Report::running>},
      {"rollout.output_tokens", "output", count, neither, "tokens of a sample, on average",
       of_loop<&Report::output_tokens>},
      {"rollout.staleness", "staleness", events, lower,
       "versions from a sample's first token to its update, on average",
       of_loop<&Report::staleness>},
      {"rollout.returned", "evicted sequences", events, lower,
       "sequences of an iteration that were evicted because memory for keys and values was full",
       if_any<&Report::returned>},
      {"rollout.lost_share", "generated again", small_share, lower,
       "share of the engines' tokens that are generated again after failures",
       if_any<&Report::lost_share>, kClosedForm},
      {"rollout.away_share", "engines absent", small_share, lower,
       "share of the time in which engines are absent after failures", if_any<&Report::away_share>,
       kClosedForm}};
}

std::vector<Figure> rollout_figures() {
  std::vector<Figure> all = times();
  for (Figure& each : rates()) all.push_back(std::move(each));
  return all;
}

// Returns "64 GPUs in 16 engines of tp 4, beside 64 of the learner".
std::string pools_text(const RolloutReport& report) {
  const std::string engines =
      counted(report.engines, "engine") + " of " + counted(report.spec.engine.tp, "GPU");
  if (report.spec.colocated) {
    return fmt::format("{} on the learner's {}, in turn", engines, counted(report.gpus, "GPU"));
  }
  return fmt::format("{} on {}, the learner on {}", engines, counted(report.actor_gpus, "GPU"),
                     with_separators(report.gpus - report.actor_gpus));
}

// A phase as a share of the period; shares add up to more than 100 % if phases overlap.
std::string phase_text(const RolloutReport& report, double seconds) {
  return fmt::format("{:>7}  {}", value_text(Unit::share, seconds / report.period_s),
                     value_text(Unit::seconds, seconds));
}

std::vector<SummarySection> rollout_sections(const Record& record) {
  const RolloutReport& report = *record.studies.find<RolloutReport>();
  const auto text = [&](const char* key) { return figure(key).text(record); };
  SummarySection section{"Reinforcement learning", {}, {}};
  const auto add = [&](const char* key, const std::string& value) {
    section.rows.push_back({figure(key).title, value});
  };
  add("rollout.period_s",
      fmt::format("{} for {} samples of {} tokens after prompts of {}, {}",
                  text("rollout.period_s"), with_separators(report.spec.batch()),
                  with_separators(report.output_tokens), with_separators(report.spec.prompt_length),
                  name_of(report.spec.mode)));
  section.rows.push_back({"pools", pools_text(report)});
  section.add("throughput", "{} samples/s, {} tokens/s", text("rollout.samples_per_s"),
              text("rollout.tokens_per_s"));
  for (const char* key : {"rollout.usd_per_sample", "rollout.job_days", "rollout.job_cost_usd"}) {
    if (const std::string known = text(key); !known.empty()) add(key, known);
  }
  add("rollout.generation_s", phase_text(report, report.generation_s));
  add("rollout.training_s", phase_text(report, report.training_s));
  add("rollout.transfer_s", fmt::format("{}, {} to {} engines; its busiest link needs {}",
                                        phase_text(report, report.transfer.seconds),
                                        value_text(Unit::bytes, report.transfer.model_bytes),
                                        report.engines, text("rollout.transfer_bound_s")));
  if (report.switch_s > 0) add("rollout.switch_s", phase_text(report, report.switch_s));
  section.rows.push_back(
      {"idle", report.spec.colocated
                   ? fmt::format("{} of the GPUs' time, while the last long samples finish",
                                 text("rollout.actors_idle"))
                   : fmt::format("engines {}, learner {} of the period",
                                 text("rollout.actors_idle"), text("rollout.learner_idle"))});
  add("rollout.running",
      fmt::format("{} on average while the engine has any; at most {} by memory and "
                  "rollout.engine.sequences",
                  text("rollout.running"), value_text(Unit::count, report.slots)));
  if (report.spec.mode != RolloutMode::synchronous) {
    add("rollout.staleness", fmt::format("{} versions", text("rollout.staleness")));
  }
  if (report.returned > 0) {
    add("rollout.returned", fmt::format("{} sequences of an iteration were evicted because memory "
                                        "for keys and values was full, and were computed again",
                                        text("rollout.returned")));
  }
  if (report.lost_share > 0) {
    section.add("failures",
                "engines are absent for {} of their time and generate {} of their "
                "tokens again; the learner is available for {}",
                text("rollout.away_share"), text("rollout.lost_share"),
                value_text(Unit::share, report.availability));
  }
  section.rows.push_back(
      {"rests on",
       "decoding is a roofline with the learner's calibration (assumed); no engine was measured, "
       "so its error may differ from that of training steps"});
  return {section};
}

void add_rollout_json(const Record& record, Json& part) {
  const auto& report = *record.studies.find<RolloutReport>();
  part["mode"] = std::string(name_of(report.spec.mode));
  part["engines"] = report.engines;
  part["engine_gpus"] = report.spec.engine.tp;
  part["actor_gpus"] = report.actor_gpus;
  part["gpus"] = report.gpus;
  part["model_bytes"] = report.transfer.model_bytes;
}

}  // namespace

ShownStudy shown_rollout() {
  return {.key = "rollout",
          .is_in = [](const Record& record) { return record.studies.has<RolloutReport>(); },
          .figures = rollout_figures,
          .sections = rollout_sections,
          .add_json = add_rollout_json,
          .columns = {"rollout.period_s", "rollout.samples_per_s", "rollout.actors_idle",
                      "rollout.learner_idle"},
          .sweep_columns = {"rollout.period_s", "rollout.samples_per_s", "rollout.usd_per_sample",
                            "rollout.actors_idle", "rollout.learner_idle"},
          .key_figures = {"rollout.period_s", "rollout.samples_per_s"},
          .role = StudyRole::leading,
          .ranking = "rollout.samples_per_s"};
}

}  // namespace windtunnel
