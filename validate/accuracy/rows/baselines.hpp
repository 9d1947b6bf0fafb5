// Simpler rules for the time of a step, which a simulator should beat.
//   6ND: a token costs 6 FLOPs per parameter that it uses (Kaplan et al. 2020, arXiv 2001.08361,
//     section 2.1), at one share of the GPUs' peak (MFU) for the whole family.
//   Regression: log(time) as a quadratic function of the logarithms of the time at peak, GPUs,
//     micro-batches, tp, pp, dp and hidden size, by least squares.
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
  bool fit = false;  // rules may learn from this row; the others are predicted
};

// Returns for each row the seconds by name of the rule (nothing for rows to learn from). The MFU is
// the median over the family's rows to learn from, else over the rows to learn from of all
// families. If there are none, it is the median over the family's other rows, and the rule's name
// says that it has seen them. A family with fewer than twice as many rows to learn from as
// coefficients has no regression.
std::vector<std::map<std::string, double>> step_baselines(const std::vector<BaselineRow>& rows);

}  // namespace windtunnel
