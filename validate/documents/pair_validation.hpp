// The spread of node pairs, simulated against measured, for reading and as JSON.
#pragma once

#include <string>

#include "report/json/json.hpp"
#include "validate/accuracy/pairs/pair_spread.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// Per machine what makes its pairs differ, then a line per series: quantiles over the pairs and
// the largest error of the three, beside that of equal pairs.
Document pairs_document(const PairSpread& spread);

// The parts of it, of a machine: sentences in lines, a row for each series, how many are near.
std::string variation_text(const PairSpreadMachine& machine);
TextTable spread_table(const PairSpreadMachine& machine);
std::string spread_verdict(const PairSpreadMachine& machine);
// How many series at sizes not fitted on have all three quantiles within 10 %, and how many would
// have them if all pairs were equal; the largest error of a quantile.
struct SpreadCounts {
  int judged = 0, good = 0, uniform = 0;
  double worst = 0;
};
void add_counts(const PairSpreadMachine& machine, SpreadCounts& counts);
// "all-reduce, 4 GPUs per node, 64 MiB"
std::string series_name(const PairSeriesSpread& series);

// {"machines": [{"name", "leaves", "uplinks", "shared_nics", "series": [...]}]}; bandwidths in
// bytes per second, shares not per cent.
Json pairs_json(const PairSpread& spread);

}  // namespace windtunnel
