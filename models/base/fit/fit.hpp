// Nonlinear least squares with priors on parameters, robust against outliers: the maximum of the
// posterior when residuals follow Student's t with 4 degrees of freedom and scale s, and parameters
// are normal. It is found by Levenberg-Marquardt with central differences; robust weights (nu + 1)
// / (nu + (r/s)^2) and scale after Lange, Little, Taylor 1989 (J. Am. Stat. Assoc. 84, 881). The
// scale is s^2 = (s0^2 + sum w u r^2) / (1 + sum w - gamma), where gamma counts the parameters that
// the rows determine (MacKay 1992, Neural Computation 4, 415) and the first guess s0 counts as one
// row. The larger of two standard deviations is reported: one follows from the posterior's
// curvature, one is the sandwich estimator over clusters (Liang, Zeger 1986, Biometrika 73, 13),
// which remains valid when errors within a cluster are correlated.
//
// Derivatives dominate the cost of a search. The first ones tell which parameters affect a row.
// Afterwards each trial point corrects them by the smallest change that explains the row's residual
// there (Broyden 1965, Math. Comp. 19, 577; of sparse rows Schubert 1970, Math. Comp. 24, 27). They
// are recomputed for rows that they mispredict by a tenth of the scale, and for all rows if the
// search would end more than a fifth of a posterior standard deviation away from the point where
// this was last done.
#pragma once

#include <functional>
#include <vector>

namespace windtunnel {

struct NormalPrior {
  double mean = 0;  // also the start of the search
  double sd = 0;    // infinite: no prior
};

using Point = std::vector<double>;  // one value per parameter

struct FitProblem {
  std::vector<NormalPrior> prior;  // one per parameter
  std::vector<double> weights;  // one per row; their sum is the number of rows that they count as
  std::vector<int> clusters;    // one per row
  double scale_guess = 0;       // s0 > 0
  // Returns residuals [point][row]. NaN: the row cannot be evaluated at this point; at the start
  // every row must be.
  std::function<std::vector<std::vector<double>>(const std::vector<Point>&)> residuals;
  // The same for derivatives, at points close together: [point][row] only for the rows in `wanted`;
  // other values are ignored. Empty: `residuals` is used.
  std::function<std::vector<std::vector<double>>(const std::vector<Point>&,
                                                 const std::vector<std::vector<bool>>& wanted)>
      beside = {};
};

struct FitResult {
  Point point;
  // standard deviations of the posterior; of the prior where `influence` is false
  std::vector<double> sd;
  std::vector<bool> influence;    // whether any row depends on the parameter
  std::vector<double> residuals;  // one per row, at `point`
  std::vector<double> jacobian;   // rows x parameters, row by row, at `point`
  double scale = 0;
  int iterations = 0;
  bool converged = false;
};

FitResult fit_least_squares(const FitProblem& problem);

// The residual of each row if all rows of its fold were left out of the fit, to first order: the
// model is linearised at the result, robust weights are recomputed, the scale is kept.
std::vector<double> left_out_residuals(const FitProblem& problem, const FitResult& fit,
                                       const std::vector<int>& folds);

}  // namespace windtunnel
