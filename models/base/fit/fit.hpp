// Nonlinear least squares in which parameters have priors and outliers do not decide: the maximum
// of the posterior where residuals follow Student's t with 4 degrees of freedom and scale s, and
// parameters are normal. Levenberg-Marquardt with central differences finds it; robust weights
// (nu + 1) / (nu + (r/s)^2) and scale after Lange, Little, Taylor 1989 (J. Am. Stat. Assoc. 84,
// 881). The scale is s^2 = (s0^2 + sum w u r^2) / (1 + sum w - gamma), where gamma counts the
// parameters that the rows determine (MacKay 1992, Neural Computation 4, 415) and the first guess
// s0 counts as one row. A standard deviation is the larger of that of the posterior's curvature and
// that of the sandwich over clusters (Liang, Zeger 1986, Biometrika 73, 13), which stays right when
// the rows of a cluster err together.
//
// Derivatives are what a search costs. Those at the start tell which parameters reach a row. After
// that each point that is tried corrects them by the least change that explains the row's residual
// there (Broyden 1965, Math. Comp. 19, 577; of sparse rows Schubert 1970, Math. Comp. 24, 27), and
// they are taken again of the rows alone that they mispredict by a tenth of the scale; of all rows
// where the search would end a fifth of a posterior standard deviation from where that was done.
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
  // The same for derivatives, at points beside one another, of the rows that are wanted
  // [point][row]; what it says of the others does not matter. Empty: `residuals` serves.
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

// The residual of each row when all rows of its fold were left out of the fit, to first order: the
// model is linear around the result, robust weights are found anew, the scale is kept.
std::vector<double> left_out_residuals(const FitProblem& problem, const FitResult& fit,
                                       const std::vector<int>& folds);

}  // namespace windtunnel
