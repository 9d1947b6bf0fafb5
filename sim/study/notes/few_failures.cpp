#include "sim/study/notes/few_failures.hpp"

#include <fmt/format.h>

#include <cmath>
namespace windtunnel {
namespace {

constexpr double kFew = 30;
constexpr double kEnough = 100;

// Expected of all trials together.
double failures_of(const CampaignInputs& inputs) {
  const double length_s = inputs.campaign.length_s;
  double per_s = 0;
  for (const FailureClass& one : inputs.failures) {
    const bool interrupts =
        one.kind != FailureKind::planned && one.kind != FailureKind::corrupt_snapshot;
    if (interrupts) per_s += mean_rate_per_s(one, inputs.nodes, length_s);
  }
  return per_s * length_s * inputs.campaign.trials;
}

}  // namespace

std::vector<Note> few_failures_notes(const CampaignInputs& inputs) {
  const double failures = failures_of(inputs);
  if (failures <= 0 || failures >= kFew) return {};
  const double trials = std::ceil(inputs.campaign.trials * kEnough / failures / 10) * 10;
  return {
      {"campaign.replicas",
       "all trials together meet so few failures that the ranges of goodput, days and cost are "
       "too narrow, and intervals of snapshots can hardly be told apart",
       fmt::format("about {:.2g} are due in {} trials; campaign.replicas={:.0f} meets a hundred",
                   failures, inputs.campaign.trials, trials)}};
}

}  // namespace windtunnel
