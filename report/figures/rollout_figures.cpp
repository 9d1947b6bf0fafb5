#include <fmt/format.h>

#include <limits>

#include "report/figures/figure_parts.hpp"

namespace windtunnel {
namespace {

using enum Unit;
using enum Better;

// A member of the loop's report, or of its transfer of weights; nothing without a loop.
template <auto member>
FigureValue of_loop(const Record& record) {
  if (!record.rollout) return {};
  if constexpr (requires { record.rollout->transfer.*member; }) {
    return record.rollout->transfer.*member;
  } else {
    return static_cast<double>((*record.rollout).*member);
  }
}

// Where 0 means that there is none.
template <auto member>
FigureValue if_any(const Record& record) {
  const FigureValue value = of_loop<member>(record);
  const auto* number = std::get_if<double>(&value);
  return number != nullptr && *number > 0 ? value : FigureValue();
}

// What all of job.tokens take at the loop's rate; nothing where the scenario does not name them, or
// names steps, of which a batch of samples may be any number.
FigureValue of_all_tokens(const Record& record, double (*value)(const RolloutReport&, double)) {
  if (!record.rollout || record.job.tokens <= 0 || record.job.steps > 0) return {};
  const double known = value(*record.rollout, record.job.tokens / record.rollout->tokens_per_s);
  return known > 0 ? FigureValue(known) : FigureValue();
}

constexpr const char* kLoopClosedForm = "closed form";

std::vector<Figure> times() {
  using Report = RolloutReport;
  return {
      {"rollout.period_s", "loop period", seconds, lower,
       "of an iteration of reinforcement learning: samples, updates, new weights",
       of_loop<&Report::period_s>, kSimulated, Follows::time},
      {"rollout.generation_s", "generation", seconds, lower,
       "of a batch of samples; asynchronous: of the engines' time", of_loop<&Report::generation_s>,
       kSimulated, Follows::time},
      {"rollout.training_s", "training", seconds, lower,
       "updates by a batch, passes over it besides, and rewards", of_loop<&Report::training_s>,
       kSimulated, Follows::time},
      {"rollout.transfer_s", "weights to engines", seconds, lower, "of one version, to all engines",
       of_loop<&WeightTransfer::seconds>, kLoopClosedForm, Follows::time},
      {"rollout.transfer_bound_s", "least for weights", seconds, lower,
       "what the busiest link takes for its bytes at its nominal rate",
       of_loop<&WeightTransfer::bound_s>, kLoopClosedForm},
      {"rollout.switch_s", "switching", seconds, lower,
       "colocated: the training state to the host and back", if_any<&Report::switch_s>,
       kLoopClosedForm, Follows::time}};
}

std::vector<Figure> rates() {
  using Report = RolloutReport;
  return {
      {"rollout.actors_idle", "idle engines", share, lower,
       "of the period, in which an engine neither writes nor gets weights",
       of_loop<&Report::actors_idle>},
      {"rollout.learner_idle", "idle learner", share, lower,
       "of the period, in which it neither learns nor sends weights",
       of_loop<&Report::learner_idle>},
      {"rollout.samples_per_s", "samples/s of the loop", count, higher,
       "failures of engines and learner counted", of_loop<&Report::samples_per_s>, kSimulated,
       Follows::rate},
      {"rollout.tokens_per_s", "tokens/s of the loop", count, higher,
       "prompts and outputs of these samples", of_loop<&Report::tokens_per_s>, kSimulated,
       Follows::rate},
      {"rollout.usd_per_sample", "cost per sample", usd, lower, "of all GPUs, at job.price",
       if_any<&Report::usd_per_sample>, kSimulated, Follows::time},
      {"rollout.job_days", "time for all tokens", days, lower, "job.tokens at the loop's rate",
       [](const Record& record) {
         return of_all_tokens(record,
                              [](const RolloutReport&, double taken_s) { return taken_s / 86400; });
       },
       kSimulated, Follows::time},
      {"rollout.job_cost_usd", "cost of all tokens", usd, lower,
       "likewise, of all GPUs, at job.price",
       [](const Record& record) {
         return of_all_tokens(record, [](const RolloutReport& report, double taken_s) {
           return taken_s * report.samples_per_s * report.usd_per_sample;
         });
       },
       kSimulated, Follows::time},
      {"rollout.running", "sequences per engine", count, neither, "while it has any, on average",
       of_loop<&Report::running>},
      {"rollout.output_tokens", "output", count, neither, "tokens of a sample, on average",
       of_loop<&Report::output_tokens>},
      {"rollout.staleness", "staleness", events, lower,
       "versions from a sample's first token to its update, on average",
       of_loop<&Report::staleness>},
      {"rollout.returned", "sent back", events, lower,
       "sequences of an iteration, as keys and values found no room", if_any<&Report::returned>},
      {"rollout.lost_share", "written again", small_share, lower,
       "of engines' tokens, after failures of engines", if_any<&Report::lost_share>,
       kLoopClosedForm},
      {"rollout.away_share", "engines away", small_share, lower, "of their time, after failures",
       if_any<&Report::away_share>, kLoopClosedForm}};
}

}  // namespace

std::vector<Figure> rollout_figures() {
  std::vector<Figure> all = times();
  for (Figure& each : rates()) all.push_back(std::move(each));
  return all;
}

}  // namespace windtunnel
