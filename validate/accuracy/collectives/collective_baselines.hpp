// What simpler rules predict for the time of a collective: the bar that the closed form has to
// clear.
//   alpha-beta: seconds = alpha * steps + beta * bytes that a rank moves (Hockney 1994), with the
//   steps of a ring or of a binary tree; one law per machine and collective, by least squares of
//   the logarithm on the rows to fit on.
//   Specification: a ring by the generic calibration's five constants on the nominal links, for
//   machines that nothing was fitted on.
//   Noise floor: what the other rows of the same point say of each, by their median. No prediction
//   can be nearer to single measurements.
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
  std::map<std::string, double> seconds(const ScoredRow& row) const;  // by name of the rule

 private:
  struct Laws {
    AlphaBeta ring, tree;
  };
  std::map<std::string, Laws> laws_;  // by machine and collective
};

}  // namespace windtunnel
