// A captured step and the simulated one task by task, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "report/captured/pass_match.hpp"
#include "report/text/answer.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

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
