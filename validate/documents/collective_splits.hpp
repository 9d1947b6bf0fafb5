// The splits of judged collectives: by machine, beyond the fitted scale, never fitted, each beside
// a ring from specification.
#pragma once

#include "validate/accuracy/collectives/collective_summary.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// A table of machines and the sums below it; nothing was judged where "machines" has no row.
Document splits_document(const CollectivesSummary& summary);

}  // namespace windtunnel
