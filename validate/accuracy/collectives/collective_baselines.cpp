#include "validate/accuracy/collectives/collective_baselines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "models/base/quantile.hpp"
#include "models/network/collectives/collective.hpp"
#include "scenarios/language/library/library.hpp"
#include "traces/nccl/nccl_tests.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {
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
