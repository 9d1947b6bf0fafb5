#include "validate/accuracy/faults/fault_campaign.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/base/error.hpp"
#include "models/reliability/saving_interval.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {
namespace {

constexpr double kFailures = 5000;
constexpr double kFailuresPerReplica = 250;  // if the source states no length
constexpr int kMostReplicas = 500;

FailureClass class_of(const FaultCampaign& campaign, const char* name, FailureKind kind,
                      double rate_per_s) {
  FailureClass result;
  result.name = name;
  result.kind = kind;
  result.rate_per_node_s = rate_per_s / campaign.nodes;
  return result;
}

std::vector<FailureClass> failures_of(const FaultCampaign& campaign) {
  const bool keeps_node = campaign.spares < 0;
  FailureClass hardware =
      class_of(campaign, "interruption", keeps_node ? FailureKind::process : FailureKind::node,
               (1 - campaign.divergence_share) / campaign.mtbf_s);
  hardware.repair.fixed_s = campaign.repair_s;
  if (campaign.regular) {
    hardware.arrivals = Arrivals::empirical;
    hardware.gaps_s = {campaign.mtbf_s};
  } else if (campaign.gap_shape != 1) {
    hardware.arrivals = Arrivals::weibull;
    hardware.weibull_shape = campaign.gap_shape;
  }
  std::vector<FailureClass> failures = {hardware};
  if (campaign.divergence_share > 0) {
    failures.push_back(class_of(campaign, "divergence", FailureKind::process,
                                campaign.divergence_share / campaign.mtbf_s));
    failures.back().detect_s = campaign.notice_s;
  }
  if (campaign.planned_per_s > 0) {
    failures.push_back(class_of(campaign, "planned", FailureKind::planned, campaign.planned_per_s));
  }
  return failures;
}

IterationTable table_of(const FaultCampaign& campaign) {
  IterationTable table;
  TierTiming timing;
  if (campaign.elastic.groups > 0) {
    timing.tier.place = SnapshotPlace::replicas;
    table.iteration_s = {campaign.iteration_s, campaign.iteration_s};
    for (int out = 1; out < campaign.elastic.groups; ++out) {
      table.shrunk_iteration_s.push_back(campaign.iteration_s);
      table.shrunk_progress.push_back(1 - static_cast<double>(out) / campaign.elastic.groups);
    }
  } else {
    const double iteration_s = campaign.interval_s / campaign.iterations_per_save;
    save_every_iterations(timing.tier, campaign.iterations_per_save);
    timing.complete_s = std::max(campaign.stall_s, campaign.save_s);
    table.iteration_s = {iteration_s, iteration_s + campaign.stall_s};
  }
  table.tiers = {timing};
  return table;
}

CampaignInputs inputs_of(const FaultCampaign& campaign) {
  CHECK(campaign.mtbf_s > 0 && campaign.nodes > 0, "{} s between failures of {} nodes",
        campaign.mtbf_s, campaign.nodes);
  CampaignInputs inputs;
  inputs.nodes = campaign.nodes;
  inputs.same_shard = {inputs.nodes, inputs.nodes, 1};
  inputs.table = table_of(campaign);
  inputs.failures = failures_of(campaign);
  inputs.recovery.spares = static_cast<int>(std::max(campaign.spares, 0.0));
  inputs.recovery.detect_s = 0;  // part of the restart
  inputs.recovery.restart_s = campaign.elastic.groups > 0 ? 0 : campaign.restart_s;
  inputs.recovery.elastic = campaign.elastic;
  inputs.campaign.length_s =
      campaign.length_s > 0 ? campaign.length_s : kFailuresPerReplica * campaign.mtbf_s;
  const double replicas = std::ceil(kFailures * campaign.mtbf_s / inputs.campaign.length_s);
  inputs.campaign.trials = static_cast<int>(std::clamp(replicas, 4.0, double{kMostReplicas}));
  return inputs;
}

}  // namespace

CampaignReport simulate(const FaultCampaign& campaign) {
  FaultCampaign played = campaign;
  // A group is lost as a whole and the rate is the job's, so it does not matter which node failed.
  if (campaign.elastic.groups > 0) played.nodes = campaign.elastic.groups;
  return run_campaign(inputs_of(played), 1);
}

double simulated_loss_per_failure_s(const FaultCampaign& campaign) {
  const CampaignReport report = simulate(campaign);
  const double lost_s = report.lost_s[static_cast<int>(Loss::redo)].mean +
                        report.lost_s[static_cast<int>(Loss::restart)].mean;
  return lost_s / report.failures.at("unexpected").mean;
}

namespace {

constexpr int kLevels = 5;
constexpr int kInside = 24;
constexpr double kGeometricFrom = 3;

using Shares = std::vector<double>;  // position in each input's range, from 0 to 1

std::vector<double> values_at(const std::vector<FaultInput>& inputs, const Shares& shares) {
  std::vector<double> values;
  for (size_t i = 0; i < inputs.size(); ++i) values.push_back(inputs[i].at(shares[i]));
  return values;
}

double best_share(const FaultInput& input) {
  if (input.effect == 0) return 0.5;
  return input.effect > 0 ? 1 : 0;
}

// Adds the best and worst ends, combined with the levels of inputs whose effect is not known.
void add_corners(const std::vector<FaultInput>& inputs, std::vector<Shares>& points) {
  const size_t first = points.size();
  for (const bool best : {true, false}) {
    Shares corner;
    for (const FaultInput& input : inputs) {
      corner.push_back(best ? best_share(input) : 1 - best_share(input));
    }
    points.push_back(corner);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].effect != 0) continue;
    const std::vector<Shares> before(points.begin() + static_cast<std::ptrdiff_t>(first),
                                     points.end());
    points.resize(first);
    for (Shares corner : before) {
      for (int level = 0; level < kLevels; ++level) {
        corner[i] = static_cast<double>(level) / (kLevels - 1);
        points.push_back(corner);
      }
    }
  }
}

// Adds evenly distributed points: the additive recurrence with square roots of primes (Weyl).
void add_inside(size_t inputs, std::vector<Shares>& points) {
  constexpr std::array<int, 12> kPrimes = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  CHECK(inputs <= kPrimes.size(), "{} inputs that are not published", inputs);
  for (int point = 1; point <= kInside; ++point) {
    Shares shares;
    for (size_t i = 0; i < inputs; ++i) {
      const double turn = point * std::sqrt(static_cast<double>(kPrimes[i]));
      shares.push_back(turn - std::floor(turn));
    }
    points.push_back(shares);
  }
}

// The middle of all ranges comes first.
std::vector<Shares> points_of(const std::vector<FaultInput>& inputs) {
  std::vector<Shares> points = {Shares(inputs.size(), 0.5)};
  if (inputs.empty()) return points;
  add_corners(inputs, points);
  add_inside(inputs.size(), points);
  return points;
}

std::vector<double> results_at(const std::vector<FaultInput>& inputs,
                               const std::vector<Shares>& points, const FaultPredictor& predict,
                               int threads) {
  std::vector<double> results(points.size());
  for_each_index(points.size(), threads,
                 [&](size_t point) { results[point] = predict(values_at(inputs, points[point])); });
  return results;
}

PredictedRange range_of(const std::vector<double>& results, size_t points) {
  const auto end = results.begin() + static_cast<std::ptrdiff_t>(points);
  const auto [low, high] = std::minmax_element(results.begin(), end);
  return {results.front(), *low, *high, static_cast<int>(points)};
}

}  // namespace

double FaultInput::at(double share) const {
  if (low > 0 && high > kGeometricFrom * low) return low * std::pow(high / low, share);
  return low + share * (high - low);
}

PredictedRange range_over(std::vector<FaultInput>& inputs, const FaultPredictor& predict,
                          int threads) {
  std::vector<Shares> points = points_of(inputs);
  const size_t in_range = points.size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const double end : {0.0, 1.0}) {
      Shares shares = points.front();
      shares[i] = end;
      points.push_back(shares);
    }
  }
  const std::vector<double> results = results_at(inputs, points, predict, threads);
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].swing = std::abs(results[in_range + 2 * i + 1] - results[in_range + 2 * i]);
  }
  return range_of(results, results.size());
}

PredictedRange range_within(const std::vector<FaultInput>& inputs, const FaultPredictor& predict,
                            const FaultConstraint& allowed, int threads) {
  Shares best;
  for (const FaultInput& input : inputs) best.push_back(input.effect > 0 ? 1 : 0);
  if (!allowed(values_at(inputs, best))) {
    throw Error("no values of the unpublished inputs are consistent with the measured value");
  }
  std::vector<Shares> points = points_of(inputs);
  const auto between = [&](const Shares& far, double share) {
    Shares shares;
    for (size_t i = 0; i < far.size(); ++i) shares.push_back(best[i] + share * (far[i] - best[i]));
    return shares;
  };
  for (Shares& point : points) {
    if (allowed(values_at(inputs, point))) continue;
    double inside = 0;
    double outside = 1;
    while (outside - inside > 1e-6) {
      const double middle = (inside + outside) / 2;
      (allowed(values_at(inputs, between(point, middle))) ? inside : outside) = middle;
    }
    point = between(point, inside);
  }
  const std::vector<double> results = results_at(inputs, points, predict, threads);
  return range_of(results, results.size());
}

}  // namespace windtunnel
