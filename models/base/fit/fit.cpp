#include "models/base/fit/fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"

namespace windtunnel {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kFreedom = 4;  // of Student's t: tails that a tenth of gross outliers fit in
// Information of a row of scale 1 on its location: (nu + 1) / (nu + 3).
constexpr double kRowInformation = (kFreedom + 1) / (kFreedom + 3);
constexpr int kMostIterations = 50;
// The search ends when a step is shorter than kSmallStep, in posterior standard deviations, or adds
// less than kSmallGain to the logarithm of the posterior, provided that no derivative is out of
// date.
constexpr double kSmallStep = 0.02;
constexpr double kSmallGain = 0.005;
constexpr double kNear = 0.2;  // derivatives hold within this many posterior standard deviations
constexpr double kMostDrift = 0.1;  // a row's derivatives hold up to this misprediction, in scales
constexpr double kNoInfluence = 1e-5;  // change of a residual over the prior's standard deviation
// A difference step is this share of the prior's standard deviation, but at most kWidestStep: wide
// enough to see through corners of tile counts, narrow enough for the curvature not to matter.
constexpr double kStepOfPrior = 0.1;
constexpr double kWidestStep = 0.05;

using Rows = std::vector<bool>;

VectorXd as_vector(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

std::vector<double> as_list(const VectorXd& values) {
  return {values.data(), values.data() + values.size()};
}

VectorXd robust_weights(const VectorXd& residuals, double scale) {
  return (kFreedom + 1) / (kFreedom + (residuals / scale).array().square());
}

MatrixXd inverse(const MatrixXd& matrix) {
  if (matrix.size() == 0) return matrix;
  return matrix.ldlt().solve(MatrixXd::Identity(matrix.rows(), matrix.cols()));
}

// Linearises the model: residuals + jacobian * step, and adds the Gaussian prior.
struct LinearModel {
  VectorXd weights;
  VectorXd residuals;
  MatrixXd jacobian;
  VectorXd precision;  // of the prior
  VectorXd offset;     // from the prior's mean

  MatrixXd information(double scale) const {
    const MatrixXd weighted = weights.asDiagonal() * jacobian;
    MatrixXd sum = kRowInformation / (scale * scale) * (jacobian.transpose() * weighted);
    sum.diagonal() += precision;
    return sum;
  }

  // Moves to the maximum of the plane's posterior at this scale; `damping` is in units of the
  // precision.
  VectorXd step(double scale, const VectorXd& damping) const {
    constexpr int kMostSweeps = 100;
    VectorXd step = VectorXd::Zero(precision.size());
    if (step.size() == 0) return step;
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      const VectorXd robust = robust_weights(residuals + jacobian * step, scale);
      const VectorXd per_row = weights.cwiseProduct(robust) / (scale * scale);
      MatrixXd matrix = jacobian.transpose() * per_row.asDiagonal() * jacobian;
      matrix.diagonal() += precision + damping;
      const VectorXd slope =
          jacobian.transpose() * per_row.cwiseProduct(residuals) + precision.cwiseProduct(offset);
      const VectorXd next = -matrix.ldlt().solve(slope);
      const double change = (next - step).norm();
      step = next;
      if (change <= 1e-9 * (1e-9 + step.norm())) break;
    }
    return step;
  }
};

// No library's search is used: with the same model, the loops of Ceres 2.1 and of Eigen's
// LevenbergMarquardt evaluate three to five times as many points, each of which predicts all rows,
// and need more code for weights, priors and points that cannot be evaluated.
class Search {
 public:
  explicit Search(const FitProblem& problem)
      : problem_(problem),
        rows_(static_cast<Eigen::Index>(problem.weights.size())),
        weights_(as_vector(problem.weights)) {
    for (const NormalPrior& prior : problem.prior) point_.push_back(prior.mean);
    scale_ = problem.scale_guess;
    residuals_ = as_vector(problem.residuals({point_}).front());
    CHECK(residuals_.size() == rows_ && residuals_.allFinite(), "a residual at the start");
  }

  FitResult run() {
    find_influence();
    FitResult result;
    double damping = 0;
    while (!result.converged && result.iterations < kMostIterations) {
      ++result.iterations;
      refresh_derivatives();
      const LinearModel model = linearise();
      estimate_scale(model);
      result.converged = advance(model, damping);
    }
    finish(linearise(), result);
    return result;
  }

 private:
  double step_width(size_t parameter) const {
    return std::min(kStepOfPrior * problem_.prior[parameter].sd, kWidestStep);
  }

  // Residuals [of `parameters`][row] after moving each parameter by this many difference steps, for
  // the rows in `wanted`.
  std::vector<std::vector<double>> residuals_beside(const std::vector<size_t>& parameters,
                                                    double steps,
                                                    const std::vector<Rows>& wanted) const {
    std::vector<Point> points;
    for (const size_t parameter : parameters) {
      points.push_back(point_);
      points.back()[parameter] += steps * step_width(parameter);
    }
    return problem_.beside ? problem_.beside(points, wanted) : problem_.residuals(points);
  }

  // [row][of `parameters`] Derivatives for the rows in `wanted` [of `parameters`][row]: central
  // differences, one-sided if one point cannot be evaluated, and 0 if neither can.
  MatrixXd derivatives(const std::vector<size_t>& parameters,
                       const std::vector<Rows>& wanted) const {
    const auto below = residuals_beside(parameters, -1, wanted);
    const auto above = residuals_beside(parameters, 1, wanted);
    MatrixXd slopes = MatrixXd::Zero(rows_, static_cast<Eigen::Index>(parameters.size()));
    for (size_t i = 0; i < parameters.size(); ++i) {
      for (size_t row = 0; row < wanted[i].size(); ++row) {
        if (!wanted[i][row]) continue;
        const auto at = static_cast<Eigen::Index>(row);
        const bool has_below = std::isfinite(below[i][row]);
        const bool has_above = std::isfinite(above[i][row]);
        const double rise = (has_above ? above[i][row] : residuals_[at]) -
                            (has_below ? below[i][row] : residuals_[at]);
        const double run = (has_above + has_below) * step_width(parameters[i]);
        if (run > 0) slopes(at, static_cast<Eigen::Index>(i)) = rise / run;
      }
    }
    return slopes;
  }

  void find_influence() {
    std::vector<size_t> all(point_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    const Rows every_row(problem_.weights.size(), true);
    const MatrixXd slopes = derivatives(all, std::vector<Rows>(all.size(), every_row));
    std::vector<Eigen::Index> columns;
    for (const size_t i : all) {
      const auto column = static_cast<Eigen::Index>(i);
      const double reach = std::min(problem_.prior[i].sd, 1.0);
      Rows reached;
      for (const double slope : slopes.col(column)) {
        reached.push_back(std::abs(slope) * reach > kNoInfluence);
      }
      if (std::ranges::find(reached, true) == reached.end()) continue;
      active_.push_back(i);
      columns.push_back(column);
      reached_.push_back(std::move(reached));
    }
    jacobian_ = slopes(Eigen::all, columns);
    drift_ = VectorXd::Zero(rows_);
    taken_here_.assign(problem_.weights.size(), true);
  }

  bool is_stale(size_t row) const {
    return !taken_here_[row] && drift_[static_cast<Eigen::Index>(row)] > kMostDrift;
  }

  bool any_stale() const {
    for (size_t row = 0; row < taken_here_.size(); ++row) {
      if (is_stale(row)) return true;
    }
    return false;
  }

  // Takes derivatives again in rows that they mispredicted, with respect to the parameters that
  // these rows depend on.
  void refresh_derivatives() {
    if (!any_stale()) return;
    std::vector<Rows> wanted = reached_;
    for (Rows& rows : wanted) {
      for (size_t row = 0; row < rows.size(); ++row) rows[row] = rows[row] && is_stale(row);
    }
    const MatrixXd slopes = derivatives(active_, wanted);
    for (size_t row = 0; row < taken_here_.size(); ++row) {
      if (!is_stale(row)) continue;
      const auto at = static_cast<Eigen::Index>(row);
      jacobian_.row(at) = slopes.row(at);
      taken_here_[row] = true;
      drift_[at] = 0;
    }
  }

  void make_all_stale() {
    taken_here_.assign(taken_here_.size(), false);
    drift_.setConstant(kInfinity);
    moved_ = 0;
  }

  LinearModel linearise() const {
    LinearModel model{weights_, residuals_, jacobian_, {}, {}};
    const Eigen::Index size = static_cast<Eigen::Index>(active_.size());
    model.precision = VectorXd::Zero(size);
    model.offset = VectorXd::Zero(size);
    for (Eigen::Index i = 0; i < size; ++i) {
      const size_t parameter = active_[static_cast<size_t>(i)];
      const NormalPrior& prior = problem_.prior[parameter];
      model.precision[i] = 1 / (prior.sd * prior.sd);
      model.offset[i] = point_[parameter] - prior.mean;
    }
    return model;
  }

  void estimate_scale(const LinearModel& model) {
    constexpr int kMostSweeps = 200;
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      const MatrixXd information = model.information(scale_);
      const MatrixXd covariance = inverse(information);
      const double determined = static_cast<double>(information.rows()) -
                                covariance.diagonal().cwiseProduct(model.precision).sum();
      const VectorXd robust = robust_weights(residuals_, scale_);
      const double squares =
          weights_.cwiseProduct(robust).cwiseProduct(residuals_.cwiseAbs2()).sum();
      const double freedom = std::max(1.0, 1 + weights_.sum() - determined);
      const double guess = problem_.scale_guess * problem_.scale_guess;
      const double next = std::sqrt((guess + squares) / freedom);
      const double change = std::abs(next - scale_);
      scale_ = next;
      if (change < 1e-6 * scale_) break;
    }
  }

  // Minus the logarithm of the posterior at the present scale, up to a constant.
  double objective(const Point& point, const VectorXd& residuals) const {
    if (!residuals.allFinite()) return kInfinity;
    const auto squares = (residuals / scale_).array().square();
    double sum = (kFreedom + 1) / 2 * (weights_.array() * (squares / kFreedom).log1p()).sum();
    for (const size_t parameter : active_) {
      const NormalPrior& prior = problem_.prior[parameter];
      const double offset = (point[parameter] - prior.mean) / prior.sd;
      sum += offset * offset / 2;
    }
    return sum;
  }

  struct Trial {
    VectorXd step;
    Point point;
    VectorXd residuals;
    double objective = 0;
  };

  Trial trial_of(const VectorXd& step) const {
    Trial trial{step, point_, {}, 0};
    for (size_t i = 0; i < active_.size(); ++i) {
      trial.point[active_[i]] += step[static_cast<Eigen::Index>(i)];
    }
    trial.residuals = as_vector(problem_.residuals({trial.point}).front());
    trial.objective = objective(trial.point, trial.residuals);
    return trial;
  }

  // Updates derivatives from a trial, except in two cases. If a step leads nowhere, derivatives
  // computed at the current point are not the cause. A short step shows corners of the model rather
  // than its slope.
  void learn(const Trial& trial, double size, bool downhill, const VectorXd& metric) {
    for (Eigen::Index row = 0; row < rows_; ++row) {
      if (taken_here_[static_cast<size_t>(row)] && !downhill) continue;
      VectorXd step = trial.step;
      for (Eigen::Index i = 0; i < step.size(); ++i) {
        if (!reached_[static_cast<size_t>(i)][static_cast<size_t>(row)]) step[i] = 0;
      }
      const double gap = trial.residuals[row] - residuals_[row] - jacobian_.row(row).dot(step);
      const VectorXd weighted = metric.cwiseProduct(step);
      const double length = weighted.dot(step);
      if (length <= 0) continue;
      drift_[row] += std::isfinite(gap) ? std::abs(gap) / scale_ : kInfinity;
      if (!std::isfinite(gap) || size <= kNear) continue;
      jacobian_.row(row) += gap / length * weighted.transpose();
    }
  }

  void move_to(Trial trial) {
    point_ = std::move(trial.point);
    residuals_ = std::move(trial.residuals);
    taken_here_.assign(taken_here_.size(), false);
  }

  // Takes the step, damped until it leads downhill. Returns whether the search is over.
  bool advance(const LinearModel& model, double& damping) {
    constexpr double kMostDamping = 1e6;
    const MatrixXd information = model.information(scale_);
    const VectorXd curvature = information.diagonal();
    const double before = objective(point_, residuals_);
    while (damping <= kMostDamping) {
      Trial trial = trial_of(model.step(scale_, damping * curvature));
      const double size = std::sqrt(trial.step.dot(information * trial.step));
      const double gain = before - trial.objective;
      const bool downhill = gain >= 0;
      learn(trial, size, downhill, curvature);
      if (downhill) {
        moved_ += size;
        move_to(std::move(trial));
        damping = damping < 1e-3 ? 0 : damping / 10;
      }
      if (size < kSmallStep || (downhill && gain < kSmallGain)) {
        if (moved_ <= kNear) return !any_stale();
        make_all_stale();
        damping = 0;
        return false;
      }
      if (downhill || any_stale()) return false;
      damping = std::max(10 * damping, 1e-2);
    }
    return true;
  }

  VectorXd deviations(const LinearModel& model) const {
    const MatrixXd information = model.information(scale_);
    const MatrixXd covariance = inverse(information);
    const VectorXd slopes =
        weights_.cwiseProduct(robust_weights(residuals_, scale_)).cwiseProduct(residuals_) /
        (scale_ * scale_);
    std::map<int, VectorXd> clusters;
    for (Eigen::Index row = 0; row < rows_; ++row) {
      VectorXd& sum = clusters[problem_.clusters[static_cast<size_t>(row)]];
      if (sum.size() == 0) sum = VectorXd::Zero(covariance.rows());
      sum += slopes[row] * model.jacobian.row(row).transpose();
    }
    VectorXd variance = covariance.diagonal();
    if (clusters.size() > 1) {
      MatrixXd scatter = MatrixXd::Zero(covariance.rows(), covariance.cols());
      for (const auto& [name, sum] : clusters) scatter += sum * sum.transpose();
      const double count = static_cast<double>(clusters.size());
      scatter *= count / (count - 1);
      scatter.diagonal() += model.precision;
      variance = variance.cwiseMax((covariance * scatter * covariance).diagonal());
    }
    return variance.cwiseSqrt();
  }

  void finish(const LinearModel& model, FitResult& result) const {
    const size_t parameters = point_.size();
    const VectorXd sd = deviations(model);
    result.point = point_;
    result.influence.assign(parameters, false);
    for (const NormalPrior& prior : problem_.prior) result.sd.push_back(prior.sd);
    result.residuals = as_list(residuals_);
    result.jacobian.assign(static_cast<size_t>(rows_) * parameters, 0.0);
    for (size_t i = 0; i < active_.size(); ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      result.influence[active_[i]] = true;
      result.sd[active_[i]] = std::min(sd[column], problem_.prior[active_[i]].sd);
      for (Eigen::Index row = 0; row < rows_; ++row) {
        result.jacobian[static_cast<size_t>(row) * parameters + active_[i]] =
            model.jacobian(row, column);
      }
    }
    result.scale = scale_;
  }

  const FitProblem& problem_;
  Eigen::Index rows_;
  VectorXd weights_;
  Point point_;
  VectorXd residuals_;
  std::vector<size_t> active_;  // parameters with influence
  // [index in active_][row] whether the row depends on that parameter at the start
  std::vector<Rows> reached_;
  MatrixXd jacobian_;  // rows x active_
  Rows taken_here_;    // [row] whether its derivatives were taken at this point
  VectorXd drift_;     // [row] by how much derivatives mispredicted it since then, in scales
  double moved_ = 0;   // distance moved since then, in posterior standard deviations
  double scale_ = 0;
};

}  // namespace

FitResult fit_least_squares(const FitProblem& problem) {
  CHECK(!problem.weights.empty() && problem.clusters.size() == problem.weights.size(),
        "{} weights, {} clusters", problem.weights.size(), problem.clusters.size());
  CHECK(problem.scale_guess > 0, "scale {}", problem.scale_guess);
  return Search(problem).run();
}

std::vector<double> left_out_residuals(const FitProblem& problem, const FitResult& fit,
                                       const std::vector<int>& folds) {
  const size_t rows = problem.weights.size();
  const size_t parameters = problem.prior.size();
  CHECK(folds.size() == rows, "{} folds of {} rows", folds.size(), rows);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  LinearModel model{as_vector(problem.weights), as_vector(fit.residuals),
                    Eigen::Map<const RowMajor>(fit.jacobian.data(), static_cast<Eigen::Index>(rows),
                                               static_cast<Eigen::Index>(parameters)),
                    VectorXd::Zero(static_cast<Eigen::Index>(parameters)),
                    VectorXd::Zero(static_cast<Eigen::Index>(parameters))};
  VectorXd held = model.precision;  // a parameter that no row moves stays, also under a flat prior
  for (size_t i = 0; i < parameters; ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    if (!fit.influence[i]) {
      held[at] = 1;
      continue;
    }
    model.precision[at] = 1 / (problem.prior[i].sd * problem.prior[i].sd);
    model.offset[at] = fit.point[i] - problem.prior[i].mean;
    held[at] = 1e-9 * (1 + model.jacobian.col(at).squaredNorm());
  }
  std::map<int, std::vector<size_t>> members;
  for (size_t row = 0; row < rows; ++row) members[folds[row]].push_back(row);
  std::vector<double> left_out(rows);
  for (const auto& [fold, fold_rows] : members) {
    LinearModel rest = model;
    for (const size_t row : fold_rows) rest.weights[static_cast<Eigen::Index>(row)] = 0;
    const VectorXd residuals = model.residuals + model.jacobian * rest.step(fit.scale, held);
    for (const size_t row : fold_rows) {
      left_out[row] = residuals[static_cast<Eigen::Index>(row)];
    }
  }
  return left_out;
}

}  // namespace windtunnel
