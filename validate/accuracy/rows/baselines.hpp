// What simpler rules predict for a step: the bar that a simulator has to clear.
//   6ND: a token costs 6 FLOPs per parameter that it meets (Kaplan et al. 2020, arXiv 2001.08361,
//   section 2.1), executed at one share of the GPUs' peak (MFU) for the whole family.
//   Regression: log(time) as a quadratic function of the logarithms of the time at peak, GPUs,
//   micro-batches, tp, pp, dp and hidden size, by least squares.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

struct BaselineRow {
  const Job* job = nullptr;
  double measured_s = 0;
  std::string family;
  bool fit = false;  // rows that a rule may learn from; the others are predicted
};

// Seconds by name of the rule, for each of `rows` (none for the rows to learn from).
// The MFU is the median over the rows to learn from of the family, else of all families; where
// there are none it is that of the family's other rows, and the rule's name says so: it has seen
// what it predicts. The regression is left out of families with fewer than twice as many rows to
// learn from as it has coefficients.
std::vector<std::map<std::string, double>> step_baselines(const std::vector<BaselineRow>& rows);

}  // namespace windtunnel
