// Shows a captured step and the simulated one task by task, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "report/captured/pass_match.hpp"
#include "report/text/answer.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

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
