// The answer about a captured trace: its steps, the prediction for them, and the time of the
// captured tasks when replayed on a scenario's machine. docs/guide/traces.md defines each figure.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/analysis/rank_passes.hpp"
#include "policies/analysis/rank_step.hpp"
#include "report/summary/summary.hpp"
#include "report/text/answer.hpp"
#include "report/text/json_text.hpp"
#include "traces/profile/captured_steps.hpp"
#include "traces/profile/step_passes.hpp"

namespace windtunnel {

// Shows a captured step and the simulated one task by task, as text and as JSON.

// Matches a captured step with the simulated one task by task: each forward, backward and optimizer
// task of a rank with the same task in the scenario's schedule. Times of both are relative to the
// start of the rank's first pass.

struct PassTimes {
  double start_s = 0;
  double end_s = 0;
  // Kernels run; otherwise the pass waits for the host or for communication inside it.
  double busy_s = 0;
  double seconds() const { return end_s - start_s; }
};

struct MatchedPass {
  std::string name;  // in the simulated schedule: "F0.3"
  std::optional<ActionKind> action;
  PassTimes traced, predicted;
  double difference_s() const { return predicted.seconds() - traced.seconds(); }
};

struct PassMatch {
  RankId rank = 0;
  std::string step;                 // "ProfilerStep#7"
  std::vector<MatchedPass> passes;  // in order of the schedule, the optimizer last
  std::string none;                 // why the passes do not match; empty: they do
};

// Matches the passes of the step; `predicted` must be of the same rank.
PassMatch match_passes(const RankProfile& profile, const CapturedRank& rank,
                       const CapturedStep& step, const std::vector<RankPass>& predicted);

// The sum over passes of a kind, or the time outside of all passes.
struct PassSum {
  std::string what;  // "forwards", "backwards", "optimizer", "between them"
  int passes = 0;
  PassTimes traced, predicted;  // only seconds() and busy_s
};

// `traced_s` and `predicted_s` are the lengths of the steps.
std::vector<PassSum> pass_sums(const PassMatch& match, double traced_s, double predicted_s);

// The matched tasks of a captured rank, with the lengths of both steps.
struct MatchedRank {
  PassMatch match;
  double traced_s = 0;
  double predicted_s = 0;
};

// `ranks` is not empty. One rank is shown for all with the same passes of the same stages.
std::vector<SummarySection> pass_sections(const std::vector<MatchedRank>& ranks);
// For each matched rank, the traced passes with the predicted ones below them on the same time
// axis. The section has no chart if no rank matches. `ranks` must outlive it.
SummarySection passes_chart(const std::vector<MatchedRank>& ranks);
Json pass_document(const std::vector<MatchedRank>& ranks);

// Predicts what a captured step would take under other choices. The scenario uses the calibration
// from the trace; its schedule is compared with the trace, and then other points are predicted.

struct WhatIfPoint {
  std::string name;         // "zb-h1", "layout.pp=4 schedule=zb-h1"
  double step_s = 0;        // 0: it cannot run
  double bubble = 0;        // share of the step beyond the busiest rank's compute
  double memory_bytes = 0;  // of the fullest GPU
  std::string reason;       // why it cannot run, or does not fit
};

// `excess`: the memory by which it does not fit, in words.
WhatIfPoint what_if_point(std::string name, const IterationReport& report, std::string excess);

struct ChosenSteps {
  double traced_s = 0;
  WhatIfPoint captured;  // the scenario's own choices
  std::vector<WhatIfPoint> others;
};

SummarySection what_if_section(const ChosenSteps& what_if);
Json what_if_document(const ChosenSteps& what_if);

struct CapturedFile {
  std::string file;
  RankId rank = 0;
  int ranks = 0;    // of the job; 0: not in the trace
  std::string gpu;  // "": not in the trace
  CapturedRank captured;
};

// This text describes a step's range, for captured tasks and for execution traces on a machine.
inline constexpr std::string_view kStepRangeText =
    "the range of the step if all communication is faster or slower by what is uncertain about the "
    "network: the 90 % intervals of its constants in the calibration, and the error of its law "
    "(noise.log); computation is taken from the trace";

// The captured tasks are replayed on the machine of a scenario.
struct Replay {
  std::string scenario;
  std::string captured_step;  // the step that is replayed: "ProfilerStep#7"
  double captured_s = 0;
  double step_s = 0;
  double low_s = 0;  // range of step_s: kStepRangeText
  double high_s = 0;
  int captured_ranks = 0;  // ranks with files of their own
  int ranks = 0;           // ranks in the replay
  bool copied = false;     // ranks without files copy the captured ones, rather than the first
  // Collectives and messages of the first rank with times from the network model.
  int priced = 0;
  int as_measured = 0;  // those that keep their measured times
};

struct CaptureAnswer {
  std::vector<CapturedFile> files;    // by rank
  std::optional<RankStep> predicted;  // for the rank of the first file
  std::vector<MatchedRank> tasks;     // by rank; only those in the scenario's job
  std::string scenario;
  std::optional<ChosenSteps> what_if;
  std::optional<Replay> replay;
  std::string no_replay;  // why the captured tasks cannot be replayed on the scenario's machine
};

// Uses the figures of figures_of(). `capture` must outlive the answer.
Answer capture_answer(const CaptureAnswer& capture);

// The figures of a captured rank's step: medians over its steps. The first of three or more steps
// is left out, because it contains one-time work.

struct StepFigures {
  std::size_t steps = 0;
  double step_s = 0;
  double low_s = 0;  // 5 and 95 % quantiles over the steps
  double high_s = 0;
  double compute_s = 0;
  double exposed_s = 0;
  double hidden_s = 0;
  double copy_s = 0;
  double idle_s = 0;
  double host_bound_s = 0;
  std::array<double, kWorkKinds> kind_s = {};
};

StepFigures figures_of(const CapturedRank& rank);
double kind_s(const StepFigures& figures, WorkKind kind);

// This is the step with the median time, without the first of three or more.
const CapturedStep& replayed_step(const CapturedRank& rank);

// Derives constants of a calibration with which a scenario's kernels take the times of a trace: the
// efficiencies of products, attention and memory-bound kernels, and the optimizer's bytes. The fit
// is of first order: it takes a kernel's time to be inverse to its efficiency. If a measured law
// replaces a constant (kernel_laws), the times of the law are scaled instead.

// The job's calibration, fitted to the first file's rank. Classes of kernels that the trace or the
// prediction lacks do not change. `answer` must have a prediction of the job.
Calibration captured_calibration(const Job& job, const CaptureAnswer& answer);

}  // namespace windtunnel
