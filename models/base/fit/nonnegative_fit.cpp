#include "models/base/fit/nonnegative_fit.hpp"

#include <Eigen/Dense>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

using Eigen::Index;

// The unconstrained solution for the columns in `used`; the others are 0.
Eigen::VectorXd least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                              const std::vector<Index>& used) {
  Eigen::MatrixXd part(a.rows(), static_cast<Index>(used.size()));
  for (Index j = 0; j < part.cols(); ++j) part.col(j) = a.col(used[static_cast<size_t>(j)]);
  const Eigen::VectorXd x = part.colPivHouseholderQr().solve(b);
  Eigen::VectorXd all = Eigen::VectorXd::Zero(a.cols());
  for (Index j = 0; j < part.cols(); ++j) all(used[static_cast<size_t>(j)]) = x(j);
  return all;
}

// The column whose use would reduce the sum most; -1 if none would.
Index steepest(const Eigen::VectorXd& gradient, const std::vector<Index>& used, double tolerance) {
  Index best = -1;
  double most = tolerance;
  for (Index j = 0; j < gradient.size(); ++j) {
    if (std::find(used.begin(), used.end(), j) == used.end() && gradient(j) > most) {
      most = gradient(j);
      best = j;
    }
  }
  return best;
}

// Moves towards `target` until some column would become negative; drops columns that reach 0 from
// `used`.
void step_towards(const Eigen::VectorXd& target, Eigen::VectorXd& x, std::vector<Index>& used) {
  double share = 1;
  for (const Index j : used) {
    if (target(j) <= 0) share = std::min(share, x(j) / (x(j) - target(j)));
  }
  x += share * (target - x);
  std::erase_if(used, [&](Index j) {
    const bool out = target(j) <= 0 && x(j) <= 1e-14 * x.cwiseAbs().maxCoeff();
    if (out) x(j) = 0;
    return out;
  });
}

}  // namespace

std::vector<double> nonnegative_fit(const std::vector<std::vector<double>>& columns,
                                    const std::vector<double>& y,
                                    const std::vector<double>& weights) {
  const auto rows = static_cast<Index>(y.size());
  const auto count = static_cast<Index>(columns.size());
  Eigen::MatrixXd a(rows, count);
  Eigen::VectorXd b(rows);
  for (Index i = 0; i < rows; ++i) {
    const auto row = static_cast<size_t>(i);
    const double root = std::sqrt(weights[row]);
    b(i) = root * y[row];
    for (Index j = 0; j < count; ++j) a(i, j) = root * columns[static_cast<size_t>(j)][row];
  }
  // All columns get the same length, so that one tolerance suits columns in different units.
  Eigen::VectorXd lengths = a.colwise().norm();
  for (Index j = 0; j < count; ++j) a.col(j) /= lengths(j) > 0 ? lengths(j) : 1;
  Eigen::VectorXd x = Eigen::VectorXd::Zero(count);
  std::vector<Index> used;
  const double tolerance = 1e-12 * b.norm();
  for (Index turn = 0; turn < 3 * count + 10; ++turn) {
    const Index next = steepest(a.transpose() * (b - a * x), used, tolerance);
    if (next < 0) break;
    used.push_back(next);
    while (!used.empty()) {
      const Eigen::VectorXd target = least_squares(a, b, used);
      bool inside = true;
      for (const Index j : used) inside = inside && target(j) > 0;
      if (inside) {
        x = target;
        break;
      }
      step_towards(target, x, used);
    }
  }
  std::vector<double> result(columns.size());
  for (Index j = 0; j < count; ++j) {
    result[static_cast<size_t>(j)] = lengths(j) > 0 ? x(j) / lengths(j) : 0;
  }
  return result;
}

}  // namespace windtunnel
