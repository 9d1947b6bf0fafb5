// Shows a captured step and the simulated one task by task, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policies/analysis/rank_passes.hpp"
#include "report/text/answer.hpp"
#include "report/text/json_text.hpp"
#include "traces/profile/step_passes.hpp"

namespace windtunnel {

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

}  // namespace windtunnel
