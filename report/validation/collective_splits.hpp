// The splits of judged collectives as people read them: by machine, beyond the fitted scale, never
// fitted, each beside a ring from specification.
#pragma once

#include <cstddef>
#include <string>

#include "validate/accuracy/collectives/collective_summary.hpp"

namespace windtunnel {

// A table of machines and the sums below it; empty where nothing was judged.
std::string splits_text(const CollectivesSummary& summary, std::size_t width = 0);
// The same for a page.
std::string page_splits(const CollectivesSummary& summary);

}  // namespace windtunnel
