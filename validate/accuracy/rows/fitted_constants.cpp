#include "validate/accuracy/rows/fitted_constants.hpp"

#include <algorithm>
#include <cmath>

#include "models/base/fit/fit.hpp"
#include "models/base/quantile.hpp"
#include "policies/lowering/for_each_index.hpp"

namespace windtunnel {
namespace {

std::vector<double> values_at(const Point& logarithms) {
  std::vector<double> values;
  for (const double logarithm : logarithms) values.push_back(std::exp(logarithm));
  return values;
}

}  // namespace

FittedConstants fitted_constants(
    const std::vector<FittedConstant>& constants, const std::vector<int>& clusters, double noise,
    const std::function<double(const std::vector<double>&, std::size_t)>& residual, int threads,
    const std::vector<std::vector<int>>& folds) {
  const std::size_t rows = clusters.size();
  FitProblem problem;
  for (const FittedConstant& constant : constants) {
    problem.prior.push_back({std::log(constant.guess), std::log(constant.spread)});
  }
  problem.weights.assign(rows, 1);
  problem.clusters = clusters;
  problem.scale_guess = noise;
  problem.residuals = [&](const std::vector<Point>& points) {
    std::vector<std::vector<double>> values;
    for (const Point& point : points) values.push_back(values_at(point));
    std::vector<std::vector<double>> all(points.size(), std::vector<double>(rows));
    // Each row has its own model, so threads do not share models.
    for_each_index(rows, threads, [&](std::size_t row) {
      for (std::size_t at = 0; at < points.size(); ++at) all[at][row] = residual(values[at], row);
    });
    return all;
  };
  const FitResult fit = fit_least_squares(problem);
  FittedConstants found{values_at(fit.point), 0};
  std::vector<std::vector<int>> divisions = folds;
  divisions.push_back(clusters);
  for (const std::vector<int>& division : divisions) {
    std::vector<double> errors = left_out_residuals(problem, fit, division);
    for (double& each : errors) each = std::abs(each);
    found.unseen = std::max(found.unseen, quantile(errors, 0.9));
  }
  return found;
}

}  // namespace windtunnel
