#include "validate/accuracy/collectives/collective_summary.hpp"

#include <algorithm>
#include <cmath>

#include "models/base/quantile.hpp"
#include "models/base/units.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr double kSmall = 1e6;

// Compares relative errors of our predictions with the plain ring's at the same points.
struct Errors {
  std::vector<double> ours;
  std::vector<double> ring;

  void add(const ValidationRow& row) {
    ours.push_back(row.relative_error());
    ring.push_back(std::abs(row.baselines.at("specification, ring") / row.measured - 1));
  }
  MedianErrors medians() const {
    if (ours.empty()) return {};
    return {static_cast<int>(ours.size()), median(ours), median(ring)};
  }
};

struct BySize {
  Errors all, below, from;

  void add(double bytes, const ValidationRow& row) {
    all.add(row);
    (bytes < kSmall ? below : from).add(row);
  }
};

struct MachineSoFar {
  JudgedMachine machine;
  BySize errors;
  int inside = 0;
};

bool is_in_view(const std::string& machine) {
  return std::ranges::any_of(machines_in_view(),
                             [&](const std::string& word) { return contains_text(machine, word); });
}

}  // namespace

CollectivesSummary summary_of(const std::vector<ScoredRow>& points,
                              const std::vector<ValidationRow>& predictions,
                              const std::vector<FittedNetwork>& networks) {
  std::map<std::string, const ValidationRow*> prediction_of;
  for (const ValidationRow& row : predictions) prediction_of[row.id] = &row;
  std::map<std::string, int> fitted_gpus;
  for (const FittedNetwork& network : networks) {
    int& most = fitted_gpus[network.machine];
    most = std::max(most, network.most_gpus);
  }
  std::vector<MachineSoFar> machines;
  std::map<std::string, size_t> index_of;
  BySize beyond;
  BySize unseen;
  BySize in_view;
  for (const ScoredRow& point : points) {
    const auto found = prediction_of.find(point.id);
    if (found == prediction_of.end()) continue;
    const ValidationRow& row = *found->second;
    const auto [at, is_new] = index_of.try_emplace(point.machine, machines.size());
    if (is_new) machines.emplace_back().machine.name = point.machine;
    MachineSoFar& of = machines[at->second];
    const auto most = fitted_gpus.find(point.machine);
    of.machine.fitted = most != fitted_gpus.end();
    of.machine.in_view = is_in_view(point.machine);
    of.machine.fitted_gpus = of.machine.fitted ? most->second : 0;
    of.machine.gpus = std::max(of.machine.gpus, point.gpus);
    of.machine.rows += static_cast<int>(point.samples.size());
    of.inside += row.measured >= row.low && row.measured <= row.high ? 1 : 0;
    of.errors.add(point.bytes, row);
    if (!of.machine.fitted) (of.machine.in_view ? in_view : unseen).add(point.bytes, row);
    if (of.machine.fitted && point.gpus > of.machine.fitted_gpus) beyond.add(point.bytes, row);
  }
  CollectivesSummary summary;
  for (MachineSoFar& of : machines) {
    of.machine.all = of.errors.all.medians();
    of.machine.below = of.errors.below.medians();
    of.machine.from = of.errors.from.medians();
    of.machine.covered = static_cast<double>(of.inside) / of.machine.all.points;
    summary.machines.push_back(std::move(of.machine));
  }
  summary.beyond_below = beyond.below.medians();
  summary.beyond_from = beyond.from.medians();
  summary.unseen_below = unseen.below.medians();
  summary.unseen_from = unseen.from.medians();
  summary.unseen = unseen.all.medians();
  summary.in_view_below = in_view.below.medians();
  summary.in_view_from = in_view.from.medians();
  return summary;
}

}  // namespace windtunnel
