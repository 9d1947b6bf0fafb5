// What a captured trace says of its steps, beside what is predicted for them and what the captured
// tasks take when they run again on a scenario's machine: as an answer. docs/guide/traces.md says
// how each figure is counted.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/results/iteration_report.hpp"
#include "policies/analysis/rank_step.hpp"
#include "report/captured/pass_report.hpp"
#include "report/summary/summary.hpp"
#include "report/text/answer.hpp"
#include "report/text/json_text.hpp"
#include "traces/profile/captured_steps.hpp"

namespace windtunnel {

// What a captured step would take under other choices: the scenario with the calibration that the
// trace gave, under its own schedule, held against the trace, and at other points.

struct WhatIfPoint {
  std::string name;         // "zb-h1", "layout.pp=4 schedule=zb-h1"
  double step_s = 0;        // 0: it cannot run
  double bubble = 0;        // share of the step beyond the busiest rank's compute
  double memory_bytes = 0;  // of the fullest GPU
  std::string reason;       // why it cannot run, or does not fit
};

// `excess`: by how much it does not fit in memory.
WhatIfPoint what_if_point(std::string name, const IterationReport& report, std::string excess);

struct ChosenSteps {
  double traced_s = 0;
  WhatIfPoint captured;  // as the scenario has it
  std::vector<WhatIfPoint> others;
};

SummarySection what_if_section(const ChosenSteps& what_if);
Json what_if_document(const ChosenSteps& what_if);

struct CapturedFile {
  std::string file;
  RankId rank = 0;
  int ranks = 0;    // of the job; 0: the trace does not say
  std::string gpu;  // "": likewise
  CapturedRank captured;
};

// What a step's range says, of captured tasks and of execution traces on a machine.
inline constexpr std::string_view kStepRangeText =
    "all communication faster, or slower, by what is not known of the network: the calibration's "
    "numbers of it at the ends of their 90 % intervals, and how far its law may be off "
    "(noise.log); computing takes what the trace says";

// The captured tasks on the machine of a scenario.
struct Replay {
  std::string scenario;
  std::string captured_step;  // the step that runs again: "ProfilerStep#7"
  double captured_s = 0;
  double step_s = 0;
  double low_s = 0;  // of it: kStepRangeText
  double high_s = 0;
  int captured_ranks = 0;  // with files of their own
  int ranks = 0;           // that run
  bool copied = false;     // those without files as the captured ones, and not as the first
  int priced = 0;          // collectives and messages of the first rank that the network prices
  int as_measured = 0;     // those that take the time that was measured
};

struct CaptureAnswer {
  std::vector<CapturedFile> files;    // by rank
  std::optional<RankStep> predicted;  // of the rank of the first file
  std::vector<MatchedRank> tasks;     // by rank; of those that the scenario's job has
  std::string scenario;
  std::optional<ChosenSteps> what_if;
  std::optional<Replay> replay;
  std::string no_replay;  // why the captured tasks cannot run on the scenario's machine
};

// By the figures of figures_of(). `capture` has to outlive it.
Answer capture_answer(const CaptureAnswer& capture);

// The figures of a captured rank's step: medians over the steps that are looked at, which are all
// but the first where there are three or more, since that holds what happens once.

struct StepFigures {
  std::size_t steps = 0;
  double step_s = 0;
  double low_s = 0;  // quantiles of the steps, 5 and 95 %
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

// The step with the median time among those that count.
const CapturedStep& replayed_step(const CapturedRank& rank);

}  // namespace windtunnel
