// The report on timings of collectives: a table on the console, and a page with the misses.
#pragma once

#include "validate/accuracy/collectives/collective_accuracy.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// Splits of judged collectives: by machine, beyond the fitted scale, and without fits, each with
// the errors of a ring from specification. A table of machines with totals below; "machines" has no
// row if nothing was judged.
Document splits_document(const CollectivesSummary& summary);

// A line per family, the fits, the `worst` points, and why rows were not predicted. The page lists
// misses above `miss_above` one by one if there are at most 200, else the five largest per family.
Document collectives_document(const CollectivesReport& report, int worst, double miss_above = 0.35);

}  // namespace windtunnel
