// The order in which reports list points, and which differences count: one for console, pages and
// documents.
#pragma once

#include <cstddef>
#include <vector>

#include "models/results/campaign_report.hpp"

namespace windtunnel {

struct Standing {
  bool fits = true;  // in memory; what does not stands behind all that does
  double worth = 0;  // more is better; not a number: nothing is known, behind what is
};

// Indices of the points, the best first; equal ones stay in their order.
std::vector<std::size_t> best_first(const std::vector<Standing>& points);

// What one campaign has more of than another, trial by trial: both met the same failures, which
// tells two apart whose own intervals overlap.
Estimate paired_lead(const std::vector<double>& best, const std::vector<double>& other);

// Whether such a difference of goodput is a reason to choose: surely above 0, and 0.05 points at
// least, which are minutes a month. What is less is as good, and nothing paints it as better.
bool is_gain(const Estimate& lead);

}  // namespace windtunnel
