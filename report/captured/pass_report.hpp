// A captured step and the simulated one task by task, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policies/analysis/rank_passes.hpp"
#include "report/text/answer.hpp"
#include "report/text/json_text.hpp"
#include "traces/profile/step_passes.hpp"

namespace windtunnel {

// A captured step beside the simulated one, task by task: each forward, backward and the optimizer
// of a rank, with the same one of the scenario's schedule. Times of both count from the start of
// the rank's first pass.

struct PassTimes {
  double start_s = 0;
  double end_s = 0;
  double busy_s = 0;  // of it kernels run; the rest waits for the host or for communication inside
  double seconds() const { return end_s - start_s; }
};

struct MatchedPass {
  std::string name;  // of the simulated one: "F0.3"
  std::optional<ActionKind> action;
  PassTimes traced, predicted;
  double difference_s() const { return predicted.seconds() - traced.seconds(); }
};

struct PassMatch {
  RankId rank = 0;
  std::string step;                 // "ProfilerStep#7"
  std::vector<MatchedPass> passes;  // in order of the schedule, the optimizer last
  std::string none;                 // why they are not matched
};

// Matches the passes of the step; `predicted` are of the same rank.
PassMatch match_passes(const RankProfile& profile, const CapturedRank& rank,
                       const CapturedStep& step, const std::vector<RankPass>& predicted);

// Passes of a kind, or the time in which none of them runs, summed up.
struct PassSum {
  std::string what;  // "forwards", "backwards", "optimizer", "between them"
  int passes = 0;
  PassTimes traced, predicted;  // seconds() and busy_s alone
};

// `traced_s`, `predicted_s`: the steps.
std::vector<PassSum> pass_sums(const PassMatch& match, double traced_s, double predicted_s);

// What was matched on a captured rank, with the lengths of both steps.
struct MatchedRank {
  PassMatch match;
  double traced_s = 0;
  double predicted_s = 0;
};

// `ranks`: not empty. One is shown of those that run the same passes of the same stages.
std::vector<SummarySection> pass_sections(const std::vector<MatchedRank>& ranks);
// Each rank whose passes are matched has its traced ones with the predicted ones below them, on one
// axis of time. The section has no chart where no rank has. `ranks` has to outlive it.
SummarySection passes_chart(const std::vector<MatchedRank>& ranks);
Json pass_document(const std::vector<MatchedRank>& ranks);

}  // namespace windtunnel
