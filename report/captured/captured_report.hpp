// The answer about a captured trace: its steps, the prediction for them, and the time of the
// captured tasks when replayed on a scenario's machine. docs/guide/traces.md defines each figure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policies/analysis/rank_step.hpp"
#include "report/captured/pass_report.hpp"
#include "report/captured/what_if.hpp"
#include "report/text/answer.hpp"
#include "report/text/json_text.hpp"
#include "traces/profile/captured_steps.hpp"

namespace windtunnel {

struct CapturedFile {
  std::string file;
  RankId rank = 0;
  int ranks = 0;    // of the job; 0: not in the trace
  std::string gpu;  // "": not in the trace
  CapturedRank captured;
};

// Explains the range of a step, for captured tasks and for execution traces on a machine.
inline constexpr std::string_view kStepRangeText =
    "all communication faster, or slower, by what is not known of the network: the calibration's "
    "numbers of it at the ends of their 90 % intervals, and how far its law may be off "
    "(noise.log); computing takes what the trace says";

// The captured tasks replayed on the machine of a scenario.
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

// Uses the figures of step_figures.hpp. `capture` must outlive the answer.
Answer capture_answer(const CaptureAnswer& capture);

}  // namespace windtunnel
