// General nonlinear least squares: parameters with a prior, rows with residuals, outliers that do
// not decide. Maximum a posteriori of
//   residual_i ~ Student-t, 4 degrees of freedom, scale s;  parameter_j ~ normal(mean_j, sd_j)
// by Levenberg-Marquardt with central differences; the robust weights (nu + 1) / (nu + (r/s)^2) and
// the scale after Lange, Little, Taylor 1989 (J. Am. Stat. Assoc. 84, 881). The scale is estimated
// with the rows: s^2 = (s0^2 + sum w u r^2) / (1 + sum w - gamma), where gamma is the number of
// parameters that the rows determine (MacKay 1992, Neural Computation 4, 415) and the first guess
// s0 counts as one row.
// The parameters' standard deviations are the larger of two: of the posterior's curvature, and of
// the sandwich over clusters of rows (Liang, Zeger 1986, Biometrika 73, 13), which stays right when
// the rows of a cluster err together.
#pragma once

#include <functional>
#include <vector>

namespace windtunnel {

struct NormalPrior {
  double mean = 0;  // also where the search starts
  double sd = 0;    // infinite: flat
};

using Point = std::vector<double>;  // one value per parameter

struct FitProblem {
  std::vector<NormalPrior> prior;  // one per parameter
  std::vector<double> weights;  // one per row; their sum is the number of rows that they count as
  std::vector<int> clusters;    // one per row
  double scale_guess = 0;       // s0 > 0
  // Residuals [point][row]. Not a number: this point cannot be evaluated for the row; at the start
  // every row can.
  std::function<std::vector<std::vector<double>>(const std::vector<Point>&)> residuals;
};

struct FitResult {
  Point point;
  std::vector<double> sd;         // of the posterior; the prior's where `influence` is false
  std::vector<bool> influence;    // whether any row depends on the parameter
  std::vector<double> residuals;  // one per row, at `point`
  std::vector<double> jacobian;   // rows x parameters, row by row, at `point`
  double scale = 0;
  int iterations = 0;
  bool converged = false;
};

FitResult fit_least_squares(const FitProblem& problem);

// The residual of each row when all rows of its fold were left out of the fit, to first order: the
// model is linear around the result, robust weights are found anew, the scale is kept.
std::vector<double> left_out_residuals(const FitProblem& problem, const FitResult& fit,
                                       const std::vector<int>& folds);

}  // namespace windtunnel
