// Where the step of each rank goes, as a table of the page of a run.
#pragma once

#include <cstddef>
#include <optional>

#include "report/summary/summary.hpp"

namespace windtunnel {

// A row per class of ranks, whose parts add up to the last column. Nothing: no rank was recorded.
// At most `most` ranks are shown; a row says how many are left out.
std::optional<SummarySection> rank_section(const Record& record, std::size_t most);

}  // namespace windtunnel
