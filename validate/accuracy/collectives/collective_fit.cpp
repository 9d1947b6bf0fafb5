#include "validate/accuracy/collectives/collective_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "models/base/fit/fit.hpp"
#include "models/base/quantile.hpp"
#include "models/network/collectives/collective.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/evidence.hpp"
#include "traces/nccl/nccl_tests.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {
namespace {

constexpr double kScaleGuess = 0.1;
// How much the standard deviation of the logarithm grows for each doubling of ranks, and of bytes,
// beyond everything that was fitted. Chosen so that nine tenths of the left-out points are covered,
// as a mean over machines. Ranks: fitted on up to 16 GPUs (Polaris 8) and judged up to 64; Alps,
// Polaris, DGX A100, MareNostrum 5 and cluster01 need 0 to 0.25. Sizes: fitted up to 16 MiB and
// judged beyond; 14 of 22 machines need no growth.
constexpr double kRanksNoise = 0.09;
constexpr double kSizesNoise = 0.04;
// The prior of slow nodes counts as much as a sample of this many node-jobs and slow nodes.
constexpr double kPriorNodeJobs = 200;
constexpr double kPriorSlowNodes = 2;
constexpr double kSlowAbove = 0.05;  // logarithm; smaller delays are noise

// The loss has no derivative in these settings (the tuner's counts, and the size from which
// messages wait), so all values are tried.
struct Setting {
  Parameter InterconnectLaw::*member;
  std::vector<double> tried;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {
      {&InterconnectLaw::tuner_ll128, {0, 1}},
      {&InterconnectLaw::tuner_bandwidth, {0, 1, 0.85, 0.72, 0.6, 0.5, 0.35}},
      {&InterconnectLaw::rendezvous_bytes, {8192, 65536, 1e18}},
      {&InterconnectLaw::small_bytes, {0, 393216, 786432, 1572864, 3145728}}};
  return all;
}

// Fields whose prior has an interval.
std::vector<const InterconnectLawField*> fitted_fields(const InterconnectLaw& prior) {
  std::vector<const InterconnectLawField*> fields;
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    const Parameter& parameter = prior.*field.member;
    if (field.fitted && parameter.high > parameter.low) fields.push_back(&field);
  }
  return fields;
}

double prior_sd(const Parameter& parameter) {
  return std::log(parameter.high / parameter.low) / (2 * kNormal95);
}

// `point` holds logarithms of the fitted numbers relative to their priors.
Calibration moved(const Calibration& prior, const Point& point) {
  Calibration calibration = prior;
  const std::vector<const InterconnectLawField*> fields = fitted_fields(prior.network);
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

// The setting decides which protocol and algorithm run; the fit adjusts the other numbers for that.
SettingFit fit_setting(std::span<const ScoredRow> rows, const Calibration& prior) {
  std::vector<CollectiveChoice> choices;
  for (const ScoredRow& row : rows) {
    const CollectiveCost cost = collective_cost(row.kind, row.choice, row.where->shape, row.bytes,
                                                row.where->cluster, prior);
    choices.emplace_back(cost.algorithm, cost.protocol);
  }
  SettingFit fit;
  for (const InterconnectLawField* field : fitted_fields(prior.network)) {
    fit.problem.prior.push_back({0, prior_sd(prior.network.*field->member)});
  }
  // Neighbouring sizes are strongly correlated, so a row counts half.
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

// Returns the standard deviation of a normal law with the residuals' middle nine tenths, or the
// prior if there are fewer than ten residuals.
Parameter noise(const std::vector<double>& residuals, const Parameter& prior,
                const Evidence& rows_say) {
  if (residuals.size() < 10) return prior;
  Parameter parameter;
  parameter.value = std::max(0.01, quantile(residuals, 0.9) / kNormal95);
  parameter.low = parameter.value / 2;
  parameter.high = parameter.value * 2;
  parameter.origin = rows_say.origin;
  parameter.source = rows_say.source;
  return parameter;
}

// A job is a run with one label on one number of nodes. Compares each with similar jobs, by the
// median over its rows.
void set_slow_nodes(std::span<const ScoredRow> rows, InterconnectLaw& law,
                    const Evidence& rows_say) {
  std::map<std::pair<std::string, int>, std::vector<double>> above;  // by label and nodes
  for (const ScoredRow& row : rows) {
    std::map<std::string, std::vector<double>> runs;
    for (size_t i = 0; i < row.samples.size(); ++i) runs[row.labels[i]].push_back(row.samples[i]);
    if (runs.size() < 3) continue;
    std::vector<double> middles;
    for (const auto& [label, seconds] : runs) middles.push_back(median(seconds));
    // The time of a run without a slow node is the one with about a third of the others below it.
    // The fastest of three may be fast for another reason, and with two runs a mean could include a
    // slow node.
    std::ranges::sort(middles);
    const double usual = middles[middles.size() / 3];
    for (const auto& [label, seconds] : runs) {
      above[{label, row.nodes}].push_back(std::log(median(seconds) / usual));
    }
  }
  double node_jobs = 0;
  double slow = 0;
  double sum = 0;
  for (const auto& [job, logs] : above) {
    node_jobs += job.second;
    const double middle = median(logs);
    if (middle < kSlowAbove) continue;
    slow += 1;
    sum += middle - kSlowAbove;
  }
  if (node_jobs == 0) return;
  // An exponential law truncated below kSlowAbove has the same form, with fewer members.
  const double log = (sum + law.slow_log.value * kPriorSlowNodes) / (slow + kPriorSlowNodes);
  const double all = std::exp(kSlowAbove / log);
  const double jobs = node_jobs + kPriorNodeJobs;
  const double share = std::min(1.0, (slow * all + law.slow_share.value * kPriorNodeJobs) / jobs);
  const double share_sd = std::sqrt(slow + 1) * all / jobs;
  law.slow_share = {share, std::max(share / 10, share - kNormal95 * share_sd),
                    std::min(1.0, share + kNormal95 * share_sd), rows_say.origin, rows_say.source};
  law.slow_log = {log, log / 2, log * 2, rows_say.origin, rows_say.source};
}

// If the rows tell less than the prior did, the number keeps the prior's origin.
void set_parameters(const SettingFit& fit, const InterconnectLaw& prior, const Evidence& rows_say,
                    InterconnectLaw& law) {
  const std::vector<const InterconnectLawField*> fields = fitted_fields(prior);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!fit.result.influence[i]) continue;
    const Parameter& before = prior.*fields[i]->member;
    const double value = before.value * std::exp(fit.result.point[i]);
    const double factor = std::exp(kNormal95 * fit.result.sd[i]);
    const double shrunk = fit.result.sd[i] / fit.problem.prior[i].sd;
    const bool rows_decide = shrunk * shrunk <= 0.5;
    law.*fields[i]->member = {
        value, value / factor, value * factor, rows_decide ? rows_say.origin : before.origin,
        rows_decide ? rows_say.source
                    : fmt::format("{}; these rows say less than the prior: {}", rows_say.source,
                                  before.source)};
  }
}

// Settings that the specification knows for sure are not tried: shares without an interval.
bool open_to_trial(const Setting& setting, const InterconnectLaw& specified) {
  const bool is_share = setting.member == &InterconnectLaw::tuner_ll128;
  const Parameter& known = specified.*setting.member;
  return !is_share || known.high > known.low;
}

// Tries one setting after the other, twice, because they hardly depend on each other. Sets `start`
// to the best.
SettingFit fit_settings(std::span<const ScoredRow> rows, const Evidence& rows_say,
                        Calibration& start) {
  SettingFit best = fit_setting(rows, start);
  const InterconnectLaw specified = start.network;
  for (int round = 0; round < 2; ++round) {
    for (const Setting& setting : settings()) {
      if (!open_to_trial(setting, specified)) continue;
      for (const double value : setting.tried) {
        Calibration tried = start;
        Parameter& parameter = tried.network.*setting.member;
        if (parameter.value == value) continue;
        parameter = {value, value, value, rows_say.origin, rows_say.source};
        SettingFit fit = fit_setting(rows, tried);
        if (fit.loss >= best.loss) continue;
        best = std::move(fit);
        start = std::move(tried);
      }
    }
  }
  return best;
}

// Computes noise from the errors of each scale (or of each point, if there is only one scale) when
// it is left out of the fit.
void set_noise(std::span<const ScoredRow> rows, const SettingFit& fit, const Evidence& rows_say,
               InterconnectLaw& law) {
  std::vector<int> folds;
  for (const ScoredRow& row : rows) folds.push_back(row.gpus);
  if (std::set<int>(folds.begin(), folds.end()).size() == 1) {
    std::iota(folds.begin(), folds.end(), 0);
  }
  const std::vector<double> left_out = left_out_residuals(fit.problem, fit.result, folds);
  std::vector<double> large;
  std::vector<double> small;
  for (size_t i = 0; i < rows.size(); ++i) {
    (rows[i].bytes < kLargeCollective_bytes ? small : large).push_back(std::abs(left_out[i]));
  }
  law.noise_log = noise(large, law.noise_log, rows_say);
  law.small_noise_log = noise(small, law.small_noise_log, rows_say);
}

}  // namespace

void set_release(const CollectiveMachine& where, InterconnectLaw& law) {
  if (where.nccl_release == 0) return;
  const double release = where.nccl_release;
  law.tuner_release = {release, release, release, Origin::published, "the row's version of NCCL"};
}

FittedNetwork fit_network(std::span<const ScoredRow> rows, const Cluster& node_template,
                          const Calibration& prior, Origin origin) {
  FittedNetwork network;
  network.calibration =
      with_one_network_law(prior, node_template.node, node_template.fabric.transport);
  InterconnectLaw& law = network.calibration.network;
  network.rows = static_cast<int>(rows.size());
  if (rows.empty()) return network;
  const int release = rows.front().where->nccl_release;
  const auto of_release = [&](const ScoredRow& row) { return row.where->nccl_release == release; };
  if (std::ranges::all_of(rows, of_release)) set_release(*rows.front().where, law);
  for (const ScoredRow& row : rows) {
    network.most_gpus = std::max(network.most_gpus, row.gpus);
    network.most_bytes = std::max(network.most_bytes, row.bytes);
  }
  network.machine = rows.front().machine;
  network.environment = rows.front().environment;
  const Evidence rows_say = {
      origin, fmt::format("fitted on {} medians of {}{}{}", rows.size(), network.machine,
                          network.environment.empty() ? "" : ", ", network.environment)};
  set_slow_nodes(rows, law, rows_say);  // first, because their delays are not part of the law
  const SettingFit fit = fit_settings(rows, rows_say, network.calibration);
  const InterconnectLaw start = law;
  set_parameters(fit, start, rows_say, law);
  const std::vector<const InterconnectLawField*> fields = fitted_fields(start);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!fit.result.influence[i]) network.untold.push_back(fields[i]->name);
  }
  set_noise(rows, fit, rows_say, law);
  return network;
}

Calibration shared_start(std::span<const ScoredRow> rows, const Cluster& node_template,
                         const Calibration& prior) {
  const InterconnectLaw before = fit_network({}, node_template, prior).calibration.network;
  Calibration calibration = fit_network(rows, node_template, prior).calibration;
  for (const InterconnectLawField* field : fitted_fields(before)) {
    Parameter& parameter = calibration.network.*field->member;
    const Parameter& bounds = before.*field->member;
    const double factor = std::pow(bounds.high / bounds.low, 0.25);
    parameter.low = parameter.value / factor;
    parameter.high = parameter.value * factor;
  }
  // Noise is estimated anew for each environment.
  calibration.network.noise_log = before.noise_log;
  calibration.network.small_noise_log = before.small_noise_log;
  calibration.network.slow_share = before.slow_share;
  calibration.network.slow_log = before.slow_log;
  return calibration;
}

std::string keep_unmeasured(std::span<const ScoredRow> rows, const Calibration& before,
                            Calibration& fitted) {
  const auto is_inside = [](const ScoredRow& row) { return row.where->shape.nodes == 1; };
  const bool inside = std::ranges::any_of(rows, is_inside);
  const bool across = !std::ranges::all_of(rows, is_inside);
  if (inside && across) return "";
  const char* const kept = inside ? "across nodes" : "inside a node";
  if (inside) {
    fitted.node_network = fitted.network;
    fitted.network = before.network;
  } else {
    fitted.node_network = interconnect_law(before, 1);
  }
  return fmt::format("no row is of a group {}, so collectives there keep the constants of {}", kept,
                     before.name);
}

FitDistance distance_of(const FittedNetwork& network, const ScoredRow& row) {
  if (network.rows == 0) return {};
  const auto beyond = [](double value, double most) {
    return value > most ? std::log2(value / most) : 0;
  };
  return {beyond(row.gpus, network.most_gpus), beyond(row.bytes, network.most_bytes)};
}

TimeFactors interval(const FittedNetwork& network, const FitDistance& distance,
                     const ScoredRow& row) {
  const InterconnectLaw& law = network.calibration.network;
  const double noise =
      collective_noise(law, row.where->cluster.node, row.nodes, row.bytes, network.rows > 0).value;
  const double further = std::hypot(kRanksNoise * distance.ranks, kSizesNoise * distance.sizes);
  return time_factors(law, row.nodes, std::hypot(noise, further));
}

namespace {

double passes(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce ? 2 : 1;
}

double ring_steps(const ScoredRow& row) {
  return row.kind == CollectiveKind::send_recv ? 1 : passes(row.kind) * (row.gpus - 1);
}

double tree_steps(const ScoredRow& row) {
  if (row.kind == CollectiveKind::send_recv) return 1;
  return passes(row.kind) * std::ceil(std::log2(std::max(2, row.gpus)));
}

double moved_bytes(const ScoredRow& row) {
  return bus_factor(row.kind, row.gpus) * row.bytes;
}

std::string law_key(const ScoredRow& row) {
  return fmt::format("{}|{}", row.machine, to_string(row.kind));
}

// Returns the median over the samples of |median of the others / sample - 1|.
double noise_share(const std::vector<double>& samples) {
  std::vector<double> errors;
  for (size_t i = 0; i < samples.size(); ++i) {
    std::vector<double> others = samples;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    errors.push_back(std::abs(median(others) / samples[i] - 1));
  }
  return median(errors);
}

}  // namespace

// Levenberg-Marquardt over the logarithms of alpha and beta: both stay positive.
AlphaBeta fit_alpha_beta(const std::vector<double>& steps, const std::vector<double>& bytes,
                         const std::vector<double>& seconds) {
  double least_s = seconds.front();
  double fastest = seconds.front() / bytes.front();
  for (size_t i = 0; i < seconds.size(); ++i) {
    least_s = std::min(least_s, seconds[i] / steps[i]);
    fastest = std::min(fastest, seconds[i] / bytes[i]);
  }
  std::array<double, 2> at = {std::log(least_s), std::log(fastest)};
  const auto cost = [&](const std::array<double, 2>& x) {
    double sum = 0;
    for (size_t i = 0; i < seconds.size(); ++i) {
      const double predicted = std::exp(x[0]) * steps[i] + std::exp(x[1]) * bytes[i];
      const double residual = std::log(predicted / seconds[i]);
      sum += residual * residual;
    }
    return sum;
  };
  double damping = 1e-3;
  double best = cost(at);
  for (int round = 0; round < 100; ++round) {
    std::array<double, 3> normal = {0, 0, 0};  // aa, ab, bb
    std::array<double, 2> gradient = {0, 0};
    for (size_t i = 0; i < seconds.size(); ++i) {
      const double a = std::exp(at[0]) * steps[i];
      const double b = std::exp(at[1]) * bytes[i];
      const double share = a / (a + b);
      const double residual = std::log((a + b) / seconds[i]);
      normal[0] += share * share;
      normal[1] += share * (1 - share);
      normal[2] += (1 - share) * (1 - share);
      gradient[0] += share * residual;
      gradient[1] += (1 - share) * residual;
    }
    const double aa = normal[0] + damping;
    const double bb = normal[2] + damping;
    const double determinant = aa * bb - normal[1] * normal[1];
    const std::array<double, 2> next = {
        at[0] - (bb * gradient[0] - normal[1] * gradient[1]) / determinant,
        at[1] - (aa * gradient[1] - normal[1] * gradient[0]) / determinant};
    const double there = cost(next);
    if (there < best) {
      at = next;
      best = there;
      damping = std::max(1e-9, damping / 5);
    } else {
      damping *= 4;
    }
  }
  return {std::exp(at[0]), std::exp(at[1])};
}

CollectiveBaselines::CollectiveBaselines(const std::vector<ScoredRow>& fit_rows) {
  std::map<std::string, std::vector<const ScoredRow*>> by_law;
  for (const ScoredRow& row : fit_rows) by_law[law_key(row)].push_back(&row);
  for (const auto& [key, rows] : by_law) {
    std::vector<double> ring;
    std::vector<double> tree;
    std::vector<double> bytes;
    std::vector<double> seconds;
    for (const ScoredRow* row : rows) {
      ring.push_back(ring_steps(*row));
      tree.push_back(tree_steps(*row));
      bytes.push_back(moved_bytes(*row));
      seconds.push_back(row->seconds);
    }
    laws_[key] = {fit_alpha_beta(ring, bytes, seconds), fit_alpha_beta(tree, bytes, seconds)};
  }
}

std::map<std::string, double> CollectiveBaselines::seconds(const ScoredRow& row) const {
  std::map<std::string, double> found;
  if (const auto laws = laws_.find(law_key(row)); laws != laws_.end()) {
    const auto predict = [&](const AlphaBeta& law, double steps) {
      return law.alpha_s * steps + law.beta_s_per_byte * moved_bytes(row);
    };
    found["alpha-beta, ring"] = predict(laws->second.ring, ring_steps(row));
    found["alpha-beta, tree"] = predict(laws->second.tree, tree_steps(row));
  }
  found["specification, ring"] =
      collective_cost(row.kind, CollectiveAlgorithm::ring, row.where->shape, row.bytes,
                      row.where->cluster, find_calibration("generic"))
          .seconds;
  if (row.samples.size() > 1) {
    found["noise floor"] = row.seconds * (1 + noise_share(row.samples));
  }
  return found;
}

}  // namespace windtunnel
