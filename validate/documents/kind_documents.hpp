// The reports on kinds of rows that have a form of their own: collectives, exchanges of gradients,
// published points under failures, and pairs of nodes.
#pragma once

#include <string>
#include <vector>

#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "validate/accuracy/collectives/collective_accuracy.hpp"
#include "validate/accuracy/compression/compression.hpp"
#include "validate/accuracy/faults/faults.hpp"
#include "validate/accuracy/pairs/pair_spread.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// Shows splits of judged collectives: by machine, beyond the fitted scale, and without fits, each
// with the errors of a ring from specification, as a table of machines with totals below.
// "machines" has no row if nothing was judged.
Document splits_document(const CollectivesSummary& summary);

// Shows a line per family, the fits, the `worst` points, and why rows were not predicted. The page
// lists misses above `miss_above` one by one if there are at most 200, else the five largest per
// family.
Document collectives_document(const CollectivesReport& report, int worst, double miss_above = 0.35);

// Returns validation_json() and {"laws": [text], "order": {"pairs", "right", "all_reduce_pairs",
// "all_reduce_right", "wrong": [text]}, "crossovers": [{"method", "fitted", "measured_bytes",
// "predicted_bytes"}]}. A size is null if the method is never faster.
Json compression_json(const CompressionValidation& validation);

// Shows the `worst` judged rows; the page shows all with an error above 10 %.
Document compression_document(const CompressionValidation& validation, int worst);

// Returns validation_json() with, for each row, its name, unit, formula, baseline and whether the
// measured value is inside; and {"unpublished": [{"id", "name", "input", "low", "high", ...}],
// "parameters": [...]}: the inputs that no source states, and the rates that rows share.
Json faults_json(const FaultValidation& validation);

// Shows a table per metric, because shares of time with different definitions are not comparable;
// then the inputs that sources leave out, remarks on rows, and the rates that rows share.
Document faults_document(const FaultValidation& validation);
// These are the same tables for a page with charts.
std::vector<SummarySection> fault_sections(const FaultValidation& validation);

// Shows for each machine the causes of differences between pairs, then a line per series: quantiles
// over the pairs and the largest error of the three, also for equal pairs.
Document pairs_document(const PairSpread& spread);

// A machine has these parts: lines of text, a row per series, and the number of good series.
std::string variation_text(const PairSpreadMachine& machine);
TextTable spread_table(const PairSpreadMachine& machine);
std::string spread_verdict(const PairSpreadMachine& machine);
// Counts judged series (sizes not fitted on), those with all three quantiles within 10 %, and those
// for which equal pairs would also reach that. `worst` is the largest error of a quantile.
struct SpreadCounts {
  int judged = 0, good = 0, uniform = 0;
  double worst = 0;
};
void add_counts(const PairSpreadMachine& machine, SpreadCounts& counts);
// Returns "all-reduce, 4 GPUs per node, 64 MiB".
std::string series_name(const PairSeriesSpread& series);

// Returns {"machines": [{"name", "leaves", "uplinks", "shared_nics", "series": [...]}]}; bandwidths
// are in bytes per second, and shares are not in per cent.
Json pairs_json(const PairSpread& spread);

}  // namespace windtunnel
