// Simpler rules for the time of a collective, which the closed form should beat.
//   alpha-beta: seconds = alpha * steps + beta * bytes that a rank moves (Hockney 1994), with the
//     steps of a ring or a binary tree; one law per machine and collective, by least squares of the
//     logarithm on the rows to fit on.
//   Specification: a ring with the generic calibration's five constants on the nominal links, for
//     machines without fitted rows.
//   Noise floor: the median of the other rows of a point as a prediction of each. No prediction can
//     be closer to single measurements.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "validate/accuracy/collectives/collective_fit.hpp"

namespace windtunnel {

struct AlphaBeta {
  double alpha_s = 0;  // per step
  double beta_s_per_byte = 0;
};

// `steps[i]`, `bytes[i]` predict `seconds[i]`.
AlphaBeta fit_alpha_beta(const std::vector<double>& steps, const std::vector<double>& bytes,
                         const std::vector<double>& seconds);

class CollectiveBaselines {
 public:
  explicit CollectiveBaselines(const std::vector<ScoredRow>& fit_rows);
  std::map<std::string, double> seconds(const ScoredRow& row) const;  // [name of the rule]

 private:
  struct Laws {
    AlphaBeta ring, tree;
  };
  std::map<std::string, Laws> laws_;  // [machine and collective]
};

}  // namespace windtunnel
