// The uses of each rank's time in a step, as a table of the page of a run.
#pragma once

#include <cstddef>
#include <optional>

#include "report/summary/summary.hpp"

namespace windtunnel {

// A row per class of ranks, whose parts add up to the last column. Nothing if no rank was recorded.
// Shows at most `most` ranks, and a row says how many are omitted.
std::optional<SummarySection> rank_section(const Record& record, std::size_t most);

}  // namespace windtunnel
