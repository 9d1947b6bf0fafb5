// The page of a sweep: the best point and how certain it is, curves or a heat map over the varied
// keys, a table of the points, and the reasons of infeasible points. It is one self-contained file.
//
// It is drawn from the sweep's document (sweep.json in its folder; report/store/sweep_results.hpp).
#pragma once

#include <string>

#include "report/json/json.hpp"

namespace windtunnel {

struct SweepPageOptions {
  size_t max_rows = 1000;  // of the table: the best points; the charts show all points
};

// Checks the parts that sweep_page() and its charts use. Throws Error with the file's name.
void check_sweep_document(const Json& document, const std::string& file);

// The best point, the table and the reasons are readable without scripts.
std::string sweep_page(const Json& document, const SweepPageOptions& options = {});

}  // namespace windtunnel
