// What a search over configurations found, as tables: the ranking, and what memory costs.
#pragma once

#include <string>

#include "report/text/table.hpp"
#include "sim/study/optimise.hpp"

namespace windtunnel {

// A row per place: estimate and memory, the figures of those that were simulated, then the keys
// that differ, with their values.
TextTable ranking_table(const Optimisation& result);

inline constexpr const char* kFrontierTitle =
    "What memory costs: of all that fit, those that no other beats in both step time and memory; "
    "each beside the row above it";
// Most memory first: what each step down saves, and what it costs.
TextTable frontier_table(const Optimisation& result);

// Between neighbours of the frontier, what a GiB less costs on average.
double seconds_per_GiB(const RankedConfiguration& less, const RankedConfiguration& more);

}  // namespace windtunnel
