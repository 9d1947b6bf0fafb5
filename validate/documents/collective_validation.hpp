// Timings of collectives, predicted against measured: a table on the console and a page with the
// misses.
#pragma once

#include "validate/accuracy/collectives/collective_accuracy.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// The splits of judged collectives: by machine, beyond the fitted scale, never fitted, each beside
// a ring from specification. A table of machines and the sums below it; nothing was judged where
// "machines" has no row.
Document splits_document(const CollectivesSummary& summary);

// A line per family, what was fitted, the `worst` points, and why rows were not predicted. On the
// page misses above `miss_above` are listed one by one up to 200 of them, else per family with the
// five largest.
Document collectives_document(const CollectivesReport& report, int worst, double miss_above = 0.35);

}  // namespace windtunnel
