#include "validate/accuracy/runs/run_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/fit/fit.hpp"
#include "models/base/quantile.hpp"
#include "models/calibration/prediction_error.hpp"
#include "models/results/step_range.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "scenarios/language/text/evidence.hpp"

namespace windtunnel {
namespace {

// Error parameters are estimated after the fit, not in it.
bool is_error(const CalibrationField& field) {
  return field.name.starts_with("error.");
}

// ---- Parameters on an unbounded line: the logit of a share, the logarithm of other numbers.

struct FreeAxis {
  const CalibrationField* field = nullptr;
  bool share = false;
  double floor = 0;  // an interval may start at 0, which has no logarithm

  double to_line(double value) const {
    if (!share) return std::log(std::max(value, floor));
    constexpr double kEdge = 1e-3;
    const double inside = std::clamp(value, kEdge, 1 - kEdge);
    return std::log(inside / (1 - inside));
  }
  double to_value(double at) const { return share ? 1 / (1 + std::exp(-at)) : std::exp(at); }
};

FreeAxis axis_of(const CalibrationField& field, const Parameter& prior) {
  FreeAxis axis{&field};
  axis.share = field.unit.empty() && prior.low >= 0 && prior.high <= 1 && prior.value <= 1;
  axis.floor = 1e-3 * prior.high;
  return axis;
}

// Reads the interval as the middle 90 % of a normal law on the line, with the value as its mean.
NormalPrior prior_of(const FreeAxis& axis, const Parameter& parameter, bool flat) {
  NormalPrior prior{.mean = axis.to_line(parameter.value)};
  prior.sd = flat ? std::numeric_limits<double>::infinity()
                  : (axis.to_line(parameter.high) - axis.to_line(parameter.low)) / (2 * kNormal95);
  return prior;
}

const CalibrationField& find_field(const std::string& name) {
  std::vector<std::string> known;
  for (const CalibrationField& field : calibration_fields()) {
    if (is_error(field)) continue;
    if (field.name == name) return field;
    known.emplace_back(field.name);
  }
  throw Error(unknown_name("parameter", name, known));
}

std::vector<FreeAxis> free_axes(const Calibration& prior, const FitOptions& options) {
  std::set<std::string_view> only, fixed;
  for (const std::string& name : options.only) only.insert(find_field(name).name);
  for (const std::string& name : options.fixed) fixed.insert(find_field(name).name);
  std::vector<FreeAxis> axes;
  for (const CalibrationField& field : calibration_fields()) {
    const Parameter& parameter = prior.*field.member;
    const bool wanted = only.empty() ? !is_error(field) : only.contains(field.name);
    if (!wanted || fixed.contains(field.name)) continue;
    if (parameter.low < parameter.high || options.flat_prior) {
      axes.push_back(axis_of(field, parameter));
    } else if (!only.empty()) {
      throw Error(fmt::format("{} has no interval in calibration {}, so it cannot be fitted",
                              field.name, prior.name));
    }
  }
  return axes;
}

// ---- Predictions.

double predicted_s(const Job& job, const FitOptions& options) {
  return options.predict_s ? options.predict_s(job) : iteration_step_s(job, prepare_iteration(job));
}

// Predicts a row's job with a changing calibration.
class MovedJob {
 public:
  MovedJob(const Job& job, const Calibration& prior, const std::vector<FreeAxis>& axes,
           const FitOptions& options)
      : job_(job), axes_(axes), options_(options) {
    job_.calibration = prior;
  }

  // Returns log(predicted seconds); NaN if there is no prediction.
  double log_s(const Point& point) {
    move_to(point);
    return logarithm([&] { return predicted_s(job_, options_); });
  }

  // The same, but keeps the order of actions that was chosen at the first point evaluated.
  double log_s_beside(const Point& point) {
    if (options_.predict_s) return log_s(point);
    move_to(point);
    return logarithm([&] {
      if (!prepared_) prepared_ = prepare_iteration(job_);
      return repriced_step_s(job_, *prepared_);
    });
  }

 private:
  void move_to(const Point& point) {
    for (size_t i = 0; i < axes_.size(); ++i) {
      (job_.calibration.*axes_[i].field->member).value = axes_[i].to_value(point[i]);
    }
  }

  template <class Seconds>
  double logarithm(const Seconds& seconds_of) const {
    try {
      const double seconds = seconds_of();
      return seconds > 0 ? std::log(seconds) : std::nan("");
    } catch (const Error&) {
      return std::nan("");
    }
  }

  Job job_;
  const std::vector<FreeAxis>& axes_;
  const FitOptions& options_;
  std::optional<PreparedIteration> prepared_;
};

// Rows that repeat a run, for instance with another release, share one job, which is predicted
// once. Two jobs are taken as equal if their predictions agree in every bit at the start, and after
// every parameter has moved by a different share.
class DistinctJobs {
 public:
  DistinctJobs(const std::vector<FitRow>& rows, const Calibration& prior,
               const std::vector<FreeAxis>& axes, const Point& start, const FitOptions& options)
      : rows_(rows), prior_(prior), axes_(axes), options_(options) {
    Point moved = start;
    for (size_t i = 0; i < moved.size(); ++i) {
      moved[i] += 0.01 * static_cast<double>(i + 1) / static_cast<double>(moved.size());
    }
    std::vector<std::pair<double, double>> prints(rows.size());
    for_each_index(rows.size(), options.threads, [&](size_t i) {
      MovedJob job(rows[i].job, prior, axes, options);
      prints[i] = {job.log_s(start), job.log_s(moved)};
    });
    std::map<std::pair<double, double>, size_t> known;
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool told = !std::isnan(prints[i].first) && !std::isnan(prints[i].second);
      const auto [at, is_new] =
          told ? known.try_emplace(prints[i], rows_of_.size()) : std::pair(known.end(), true);
      if (is_new) rows_of_.emplace_back();
      rows_of_[is_new ? rows_of_.size() - 1 : at->second].push_back(i);
    }
  }

  // Returns log(predicted / measured) by point and row. Evaluates the rows that `wanted` selects by
  // point and row; empty: all.
  std::vector<std::vector<double>> residuals(const std::vector<Point>& points,
                                             const std::vector<std::vector<bool>>& wanted) const {
    std::vector<std::vector<double>> by_point(points.size(), std::vector<double>(rows_.size()));
    for_each_index(rows_of_.size(), options_.threads, [&](size_t one) {
      const std::vector<size_t>& rows = rows_of_[one];
      MovedJob job(rows_[rows.front()].job, prior_, axes_, options_);
      for (size_t at = 0; at < points.size(); ++at) {
        const auto is_wanted = [&](size_t row) { return wanted[at][row]; };
        if (!wanted.empty() && std::ranges::none_of(rows, is_wanted)) continue;
        const double log_s = wanted.empty() ? job.log_s(points[at]) : job.log_s_beside(points[at]);
        for (const size_t row : rows) by_point[at][row] = log_s - std::log(rows_[row].measured_s);
      }
    });
    return by_point;
  }

 private:
  const std::vector<FitRow>& rows_;
  const Calibration& prior_;
  const std::vector<FreeAxis>& axes_;
  const FitOptions& options_;
  std::vector<std::vector<size_t>> rows_of_;  // [job]
};

std::string why_unusable(const FitRow& row, const Calibration& prior, const FitOptions& options) {
  if (!(row.measured_s > 0) || !std::isfinite(row.measured_s)) {
    return fmt::format("measured step time {} s", row.measured_s);
  }
  try {
    Job job = row.job;
    job.calibration = prior;
    const double seconds = predicted_s(job, options);
    if (!(seconds > 0) || !std::isfinite(seconds)) return fmt::format("predicted {} s", seconds);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<FitRow> usable_rows(const std::vector<FitRow>& rows, const Calibration& prior,
                                const FitOptions& options, std::vector<UnusableRow>& unusable) {
  std::vector<std::string> reasons(rows.size());
  for_each_index(rows.size(), options.threads,
                 [&](size_t i) { reasons[i] = why_unusable(rows[i], prior, options); });
  std::vector<FitRow> usable;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (reasons[i].empty()) {
      usable.push_back(rows[i]);
    } else {
      unusable.push_back({rows[i].id, reasons[i]});
    }
  }
  if (usable.empty()) {
    throw Error(rows.empty() ? std::string("there are no rows for the fit")
                             : fmt::format("none of the {} rows can be used; {}: {}", rows.size(),
                                           unusable.front().id, unusable.front().reason));
  }
  return usable;
}

// ---- Weights, clusters and folds.

// Weights are 1 / sqrt(rows of the group), scaled to Kish's (sum w)^2 / sum w^2
// (docs/reference/rows.md, "A calibration from rows").
std::vector<double> row_weights(const std::vector<FitRow>& rows) {
  std::map<std::string, double> count;
  for (const FitRow& row : rows) ++count[row.group];
  double sum = 0, squares = 0;
  std::vector<double> weights;
  for (const FitRow& row : rows) {
    weights.push_back(1 / std::sqrt(count[row.group]));
    sum += weights.back();
    squares += weights.back() * weights.back();
  }
  for (double& weight : weights) weight *= sum / squares;
  return weights;
}

// Numbers the rows by distinct keys, in the order of first rows.
template <typename Key>
std::vector<int> numbered(const std::vector<FitRow>& rows, Key key) {
  std::map<decltype(key(rows.front())), int> numbers;
  std::vector<int> result;
  for (const FitRow& row : rows) {
    result.push_back(numbers.emplace(key(row), static_cast<int>(numbers.size())).first->second);
  }
  return result;
}

auto model_of(const FitRow& row) {
  return std::tuple(row.group, row.job.model.layers, row.job.model.hidden);
}
auto gpus_of(const FitRow& row) {
  return std::tuple(row.group, row.job.layout.ranks());
}

int count_of(const std::vector<int>& numbers) {
  return 1 + *std::max_element(numbers.begin(), numbers.end());
}

// Returns the half-width of the interval around 0 that contains nine tenths of the weight.
double quantile90(const std::vector<double>& values, const std::vector<double>& weights) {
  std::vector<std::pair<double, double>> sorted;
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    sorted.emplace_back(std::abs(values[i]), weights[i]);
    sum += weights[i];
  }
  std::sort(sorted.begin(), sorted.end());
  double below = 0;
  for (const auto& [value, weight] : sorted) {
    below += weight;
    if (below >= 0.9 * sum) return value;
  }
  return sorted.back().first;
}

// ---- The error on unseen runs.

// Combines the prior with left-out folds: a scaled inverse chi-square prior (Gelman et al.,
// Bayesian Data Analysis, section 2.6), and one degree of freedom per fold, because errors within a
// fold are correlated.
Parameter unseen_error(const Parameter& prior, double left_out, int folds, const Evidence& how) {
  const double known = freedom_of(prior);
  const double freedom = known + folds;
  Parameter error;
  error.value =
      std::sqrt((known * prior.value * prior.value + folds * left_out * left_out) / freedom);
  const double factor = std::exp(kNormal95 / std::sqrt(2 * freedom));
  error.low = error.value / factor;
  error.high = error.value * factor;
  error.origin = how.origin;
  error.source = fmt::format("{} {}, nine tenths of the rows within {:.1f} %", folds, how.source,
                             100 * std::expm1(kNormal95 * left_out));
  return error;
}

void estimate_error(const FitProblem& problem, const FitResult& fit,
                    const std::vector<FitRow>& rows, const Evidence& rows_say, RunFit& result) {
  double worst = 0;
  for (const std::vector<int>& folds : {numbered(rows, model_of), numbered(rows, gpus_of)}) {
    if (count_of(folds) < 2) continue;
    const std::vector<double> errors = left_out_residuals(problem, fit, folds);
    const double error = quantile90(errors, problem.weights) / kNormal95;
    if (error < worst) continue;
    worst = error;
    result.folds = count_of(folds);
  }
  Parameter& error = result.calibration.step_error;
  if (result.folds == 0) return;
  error = unseen_error(error, worst, result.folds,
                       {rows_say.origin,
                        "folds of models and GPU counts left out one after the "
                        "other; " +
                            rows_say.source});
}

void estimate_memory_error(const std::vector<FitRow>& rows, const Calibration& prior, Origin origin,
                           RunFit& result) {
  std::vector<FitRow> stated;
  for (const FitRow& row : rows) {
    if (row.memory_bytes > 0) stated.push_back(row);
  }
  result.memory_rows = static_cast<int>(stated.size());
  if (stated.empty()) return;
  std::vector<double> errors;
  for (const FitRow& row : stated) {
    Job job = row.job;
    job.calibration = prior;
    errors.push_back(std::log(bytes_of(row.memory_figure, predict(job).memory) / row.memory_bytes));
  }
  const double error = quantile90(errors, row_weights(stated)) / kNormal95;
  Parameter& memory_error = result.calibration.memory_error;
  memory_error = unseen_error(
      memory_error, error, count_of(numbered(stated, model_of)),
      {origin,
       fmt::format("models not used in the fit, {} rows that state memory", stated.size())});
}

// ---- The result.

double median_ape(std::vector<double> residuals) {
  for (double& residual : residuals) residual = std::abs(std::expm1(residual));
  std::sort(residuals.begin(), residuals.end());
  const size_t middle = residuals.size() / 2;
  return residuals.size() % 2 == 1 ? residuals[middle]
                                   : (residuals[middle - 1] + residuals[middle]) / 2;
}

// If the rows tell less than the prior did, the number keeps the prior's origin.
Parameter fitted_parameter(const FreeAxis& axis, const Parameter& prior, const NormalPrior& normal,
                           double at, double sd, const Evidence& rows_say, const FittedOn& rows) {
  Parameter fitted;
  fitted.value = axis.to_value(at);
  fitted.low = axis.to_value(at - kNormal95 * sd);
  fitted.high = axis.to_value(at + kNormal95 * sd);
  const bool rows_decide = sd * sd <= normal.sd * normal.sd / 2;
  fitted.origin = rows_decide ? rows_say.origin : prior.origin;
  fitted.source = rows_decide ? rows_say.source
                              : fmt::format("{}; these rows say less than the prior: {}",
                                            rows_say.source, prior.source);
  if (std::isfinite(normal.sd)) fitted.fitted_on = prior.fitted_on;
  if (rows != FittedOn{}) fitted.fitted_on.push_back(rows);
  return fitted;
}

std::string source_of(const std::vector<FitRow>& rows, const FitOptions& options) {
  const int groups = count_of(numbered(rows, [](const FitRow& row) { return row.group; }));
  return fmt::format("fitted on {} row{} of {} source{}{}{}", rows.size(),
                     rows.size() == 1 ? "" : "s", groups, groups == 1 ? "" : "s",
                     options.source.empty() ? "" : ", ", options.source);
}

FitProblem problem_of(const std::vector<FitRow>& rows, const Calibration& prior,
                      const std::vector<FreeAxis>& axes, const FitOptions& options) {
  FitProblem problem;
  for (const FreeAxis& axis : axes) {
    problem.prior.push_back(prior_of(axis, prior.*axis.field->member, options.flat_prior));
  }
  problem.weights = row_weights(rows);
  problem.clusters = numbered(
      rows, [](const FitRow& row) { return std::pair(model_of(row), row.job.layout.ranks()); });
  problem.scale_guess = std::max(prior.step_error.value, 0.01);
  Point start;
  for (const NormalPrior& normal : problem.prior) start.push_back(normal.mean);
  const auto jobs = std::make_shared<const DistinctJobs>(rows, prior, axes, start, options);
  problem.residuals = [jobs](const std::vector<Point>& points) {
    return jobs->residuals(points, {});
  };
  problem.beside = [jobs](const std::vector<Point>& points,
                          const std::vector<std::vector<bool>>& wanted) {
    return jobs->residuals(points, wanted);
  };
  return problem;
}

}  // namespace

RunFit fit_runs(const std::vector<FitRow>& rows, const Calibration& prior,
                const FitOptions& options) {
  RunFit result;
  result.calibration = prior;
  const std::vector<FreeAxis> axes = free_axes(prior, options);
  const std::vector<FitRow> usable = usable_rows(rows, prior, options, result.unusable);
  const FitProblem problem = problem_of(usable, prior, axes, options);
  const FitResult fit = fit_least_squares(problem);

  const Evidence rows_say = {options.origin, source_of(usable, options)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const CalibrationField& field = *axes[i].field;
    if (!fit.influence[i]) {
      result.without_influence.push_back(field.name);
      continue;
    }
    const Parameter& before = prior.*field.member;
    const Parameter after = fitted_parameter(axes[i], before, problem.prior[i], fit.point[i],
                                             fit.sd[i], rows_say, options.fitted_on);
    result.fitted.push_back({field.name, before, after});
    result.calibration.*field.member = after;
  }
  estimate_error(problem, fit, usable, rows_say, result);
  estimate_memory_error(usable, prior, options.origin, result);

  result.rows = static_cast<int>(usable.size());
  result.converged = fit.converged;
  double squares = 0;
  for (const double residual : fit.residuals) squares += residual * residual;
  result.residual_rms = std::sqrt(squares / static_cast<double>(usable.size()));
  Point start;
  for (const NormalPrior& normal : problem.prior) start.push_back(normal.mean);
  result.median_ape_before = median_ape(problem.residuals({start}).front());
  result.median_ape_after = median_ape(fit.residuals);
  return result;
}

RunFit fit_one_point(const FitRow& row, const Calibration& prior, const FitOptions& options) {
  FitOptions one = options;
  const int gpus = row.job.layout.ranks();
  const bool alone = &sustained_of(prior, gpus) == &prior.kernel_alone;
  one.only = {alone ? "kernel.alone" : "kernel.sustained"};
  one.fixed.clear();
  return fit_runs({row}, prior, one);
}

PredictionInterval interval(const RunPrediction& prediction, const Calibration& calibration) {
  constexpr double kCovered = 0.9;
  const ErrorFactors step = held_at_peak(
      error_factors(calibration.step_error, kCovered, prediction.spread), prediction.hfu_causal);
  const double memory = error_factor(calibration.memory_error, kCovered);
  return {.step_low_s = prediction.step_s / step.shorter,
          .step_high_s = prediction.step_s * step.longer,
          .memory_low_bytes = prediction.memory_bytes / memory,
          .memory_high_bytes = prediction.memory_bytes * memory};
}

}  // namespace windtunnel
