#include "validate/accuracy/collective_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/fit.hpp"
#include "scenarios/network_laws.hpp"

namespace windtunnel {
namespace {

constexpr double kQuantile = 1.6448536269514722;  // of the normal distribution at 95 %
constexpr double kSmallBytes = 1e6;
constexpr double kScaleGuess = 0.1;
// What the prior of slow nodes counts: node-jobs and slow nodes seen.
constexpr double kPriorNodeJobs = 200;
constexpr double kPriorSlowNodes = 2;
constexpr double kSlowAbove = 0.05;  // logarithm: less is noise

// What no derivative finds: the tuner's counts and the size from which messages wait.
struct Setting {
  Parameter NetworkLaw::*member;
  std::vector<double> tried;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {
      {&NetworkLaw::tuner_ll128, {0, 1}},
      {&NetworkLaw::tuner_bandwidth, {0, 1, 0.85, 0.72, 0.6, 0.5, 0.35}},
      {&NetworkLaw::rendezvous_bytes, {8192, 65536, 1e18}},
      {&NetworkLaw::small_bytes, {0, 393216, 786432, 1572864, 3145728}}};
  return all;
}

std::vector<const NetworkLawField*> fitted_fields() {
  std::vector<const NetworkLawField*> fields;
  for (const NetworkLawField& field : network_law_fields()) {
    if (field.fitted) fields.push_back(&field);
  }
  return fields;
}

double prior_sd(const Parameter& parameter) {
  return std::log(parameter.high / parameter.low) / (2 * kQuantile);
}

// `point`: logarithms of the fitted numbers over their priors.
Calibration moved(const Calibration& prior, const Point& point) {
  Calibration calibration = prior;
  const std::vector<const NetworkLawField*> fields = fitted_fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    (calibration.network.*fields[i]->member).value *= std::exp(point[i]);
  }
  return calibration;
}

struct SettingFit {
  FitProblem problem;
  FitResult result;
  double loss = 0;
};

// The setting decides which pairs run; the fit moves the rest while they stay.
SettingFit fit_setting(std::span<const ScoredRow> rows, const Calibration& prior) {
  std::vector<CollectiveChoice> choices;
  for (const ScoredRow& row : rows) {
    const CollectiveCost cost = collective_cost(row.kind, row.choice, row.where->shape, row.bytes,
                                                row.where->cluster, prior);
    choices.emplace_back(cost.algorithm, cost.protocol);
  }
  SettingFit fit;
  for (const NetworkLawField* field : fitted_fields()) {
    fit.problem.prior.push_back({0, prior_sd(prior.network.*field->member)});
  }
  // Neighbouring sizes say much the same.
  fit.problem.weights.assign(rows.size(), 0.5);
  for (const ScoredRow& row : rows) fit.problem.clusters.push_back(row.gpus);
  fit.problem.scale_guess = kScaleGuess;
  fit.problem.residuals = [rows, choices, prior](const std::vector<Point>& points) {
    std::vector<std::vector<double>> all;
    for (const Point& point : points) {
      const Calibration calibration = moved(prior, point);
      std::vector<double>& residuals = all.emplace_back();
      for (size_t i = 0; i < rows.size(); ++i) {
        const CollectiveMachine& where = *rows[i].where;
        const double seconds = collective_cost(rows[i].kind, choices[i], where.shape, rows[i].bytes,
                                               where.cluster, calibration)
                                   .seconds;
        residuals.push_back(std::log(seconds / rows[i].seconds));
      }
    }
    return all;
  };
  fit.result = fit_least_squares(fit.problem);
  for (const double r : fit.result.residuals) {
    const double scaled = r / kScaleGuess;
    fit.loss += 2.5 * std::log1p(scaled * scaled / 4);  // Student's t with 4 degrees of freedom
  }
  for (size_t i = 0; i < fit.result.point.size(); ++i) {
    const double z = fit.result.point[i] / fit.problem.prior[i].sd;
    fit.loss += z * z / 2;
  }
  return fit;
}

double quantile_of(std::vector<double> values, double q) {
  std::ranges::sort(values);
  const auto at = static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  return values[at];
}

// What the middle nine tenths of left-out residuals say of a normal's standard deviation; the prior
// where there are few.
Parameter noise(const std::vector<double>& residuals, const Parameter& prior,
                const std::string& source) {
  if (residuals.size() < 10) return prior;
  Parameter parameter;
  parameter.value = std::max(0.01, quantile_of(residuals, 0.9) / kQuantile);
  parameter.low = parameter.value / 2;
  parameter.high = parameter.value * 2;
  parameter.origin = Origin::published;
  parameter.source = source;
  return parameter;
}

// Jobs are runs with one label on so many GPUs: how far each lies above its fellows, in the middle
// of its rows.
void set_slow_nodes(std::span<const ScoredRow> rows, NetworkLaw& law, const std::string& source) {
  std::map<std::pair<std::string, int>, std::vector<double>> above;  // by label and nodes
  for (const ScoredRow& row : rows) {
    std::map<std::string, std::vector<double>> runs;
    for (size_t i = 0; i < row.samples.size(); ++i) runs[row.labels[i]].push_back(row.samples[i]);
    if (runs.size() < 3) continue;
    std::vector<double> middles;
    for (const auto& [label, seconds] : runs) middles.push_back(quantile_of(seconds, 0.5));
    const double usual = quantile_of(middles, 0.34);
    for (const auto& [label, seconds] : runs) {
      above[{label, row.nodes}].push_back(std::log(quantile_of(seconds, 0.5) / usual));
    }
  }
  double node_jobs = 0;
  double slow = 0;
  double sum = 0;
  for (const auto& [job, logs] : above) {
    node_jobs += job.second;
    const double middle = quantile_of(logs, 0.5);
    if (middle < kSlowAbove) continue;
    slow += 1;
    sum += middle;
  }
  if (node_jobs == 0) return;
  const double prior_share = law.slow_share.value;
  const double share = (slow + prior_share * kPriorNodeJobs) / (node_jobs + kPriorNodeJobs);
  const double log = (sum + law.slow_log.value * kPriorSlowNodes) / (slow + kPriorSlowNodes);
  const double share_sd = std::sqrt(slow + 1) / (node_jobs + kPriorNodeJobs);
  law.slow_share = {share, std::max(share / 10, share - kQuantile * share_sd),
                    share + kQuantile * share_sd, Origin::published, source};
  law.slow_log = {log, log / 2, log * 2, Origin::published, source};
}

void set_parameters(const SettingFit& fit, const Calibration& prior, const std::string& source,
                    NetworkLaw& law) {
  const std::vector<const NetworkLawField*> fields = fitted_fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!fit.result.influence[i]) continue;  // the prior stands, with its evidence
    const double value = (prior.network.*fields[i]->member).value * std::exp(fit.result.point[i]);
    const double factor = std::exp(kQuantile * fit.result.sd[i]);
    law.*fields[i]->member = {value, value / factor, value * factor, Origin::published, source};
  }
}

}  // namespace

FittedNetwork fit_network(std::span<const ScoredRow> rows, const Cluster& node_template,
                          const Calibration& prior) {
  FittedNetwork network;
  network.calibration = prior;
  if (!prior.network.stated) {
    network.calibration.network =
        specified_network_law(node_template.node, node_template.fabric.transport);
  }
  network.rows = static_cast<int>(rows.size());
  const auto state = [&network] {
    const NetworkLaw& law = network.calibration.network;
    network.sigma_log = law.noise_log.value;
    network.tail_share = law.slow_share.value;
    network.tail_sigma_log = law.slow_log.value;
  };
  state();
  if (rows.empty()) return network;
  network.machine = rows.front().machine;
  network.environment = rows.front().environment;
  const std::string source =
      fmt::format("fitted on {} medians of {}{}{}", rows.size(), network.machine,
                  network.environment.empty() ? "" : ", ", network.environment);

  // Slow nodes first: what they do is not the law's.
  Calibration start = network.calibration;
  set_slow_nodes(rows, start.network, source);
  // One setting after the other, twice: they hardly depend on each other.
  Calibration best_start = start;
  SettingFit best = fit_setting(rows, best_start);
  for (int round = 0; round < 2; ++round) {
    for (const Setting& setting : settings()) {
      for (const double value : setting.tried) {
        Calibration tried = best_start;
        Parameter& parameter = tried.network.*setting.member;
        if (parameter.value == value) continue;
        parameter = {value, value, value, Origin::published, source};
        SettingFit fit = fit_setting(rows, tried);
        if (fit.loss >= best.loss) continue;
        best = std::move(fit);
        best_start = tried;
      }
    }
  }
  network.calibration = best_start;
  set_parameters(best, best_start, source, network.calibration.network);

  // What a scale (else a point) would be off by if it were left out.
  std::vector<int> folds;
  for (const ScoredRow& row : rows) folds.push_back(row.gpus);
  const bool scales = std::set<int>(folds.begin(), folds.end()).size() > 1;
  if (!scales) {
    for (size_t i = 0; i < folds.size(); ++i) folds[i] = static_cast<int>(i);
  }
  const std::vector<double> left_out = left_out_residuals(best.problem, best.result, folds);
  std::vector<double> large;
  std::vector<double> small;
  for (size_t i = 0; i < rows.size(); ++i) {
    (rows[i].bytes < kSmallBytes ? small : large).push_back(std::abs(left_out[i]));
  }
  NetworkLaw& law = network.calibration.network;
  law.noise_log = noise(large, law.noise_log, source);
  law.small_noise_log = noise(small, law.small_noise_log, source);
  state();
  return network;
}

TimeFactors interval(const FittedNetwork& network, int nodes, double bytes) {
  const NetworkLaw& law = network.calibration.network;
  const double core = kQuantile * (bytes < kSmallBytes ? law.small_noise_log : law.noise_log).value;
  const double middle = slowdown_log(law, nodes, 0.5);
  const double faster = middle - slowdown_log(law, nodes, 0.05);
  const double slower = slowdown_log(law, nodes, 0.95) - middle;
  return {std::exp(-std::hypot(core, faster)), std::exp(std::hypot(core, slower))};
}

}  // namespace windtunnel
