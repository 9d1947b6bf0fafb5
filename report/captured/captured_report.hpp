// What a captured trace says of its steps, beside what is predicted for them and what the captured
// tasks take when they run again on a scenario's machine: as an answer. docs/guide/traces.md says
// how each figure is counted.
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

// By the figures of step_figures.hpp. `capture` has to outlive it.
Answer capture_answer(const CaptureAnswer& capture);

}  // namespace windtunnel
