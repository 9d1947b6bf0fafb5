// The report on the spread of node pairs, as text and as JSON.
#pragma once

#include <string>

#include "report/json/json.hpp"
#include "validate/accuracy/pairs/pair_spread.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// For each machine the causes of differences between pairs, then a line per series: quantiles over
// the pairs and the largest error of the three, also for equal pairs.
Document pairs_document(const PairSpread& spread);

// A machine has these parts: lines of text, a row per series, and the number of good series.
std::string variation_text(const PairSpreadMachine& machine);
TextTable spread_table(const PairSpreadMachine& machine);
std::string spread_verdict(const PairSpreadMachine& machine);
// The number of judged series (sizes not fitted on) with all three quantiles within 10 %, and the
// number that equal pairs would reach; the largest error of a quantile.
struct SpreadCounts {
  int judged = 0, good = 0, uniform = 0;
  double worst = 0;
};
void add_counts(const PairSpreadMachine& machine, SpreadCounts& counts);
// "all-reduce, 4 GPUs per node, 64 MiB"
std::string series_name(const PairSeriesSpread& series);

// {"machines": [{"name", "leaves", "uplinks", "shared_nics", "series": [...]}]}; bandwidths are in
// bytes per second, and shares are not in per cent.
Json pairs_json(const PairSpread& spread);

}  // namespace windtunnel
