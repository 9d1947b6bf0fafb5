// The page of a sweep: the best point and how surely it is the best, curves or a heat map over the
// varied keys, a table of the points, and the reasons of those that are not feasible. One
// self-contained file.
//
// It is drawn from the sweep's document (sweep.json in its folder; report/store/sweep_results.hpp).
#pragma once

#include <string>

#include "report/json/json.hpp"

namespace windtunnel {

struct SweepPageOptions {
  size_t max_rows = 1000;  // of the table, the best ones; the charts hold all points
};

// Checks what sweep_page and its charts rely on. Throws Error with the file's name.
void check_sweep_document(const Json& document, const std::string& file);

// Best point, table and reasons are readable without scripts.
std::string sweep_page(const Json& document, const SweepPageOptions& options = {});

}  // namespace windtunnel
