#include "sim/study/notes/few_failures.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace windtunnel {
namespace {

constexpr double kFew = 30;
constexpr double kEnough = 100;
constexpr double kMostTrials = 1e6;  // that campaign.replicas takes

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
  const int now = inputs.campaign.trials;
  const double trials = std::ceil(now * kEnough / failures / 10) * 10;
  const std::string due = failures < 1 ? std::string("less than one is")
                                       : fmt::format("about {:.0f} are", std::floor(failures));
  const std::string enough = trials > kMostTrials
                                 ? std::string("a hundred are due in more than can be simulated")
                                 : fmt::format("campaign.replicas={:.0f} meets a hundred", trials);
  return {{"campaign.replicas",
           "all trials together meet so few failures that the ranges of goodput, days and cost are "
           "too narrow, and intervals of snapshots can hardly be told apart",
           fmt::format("{} due in {} trial{}; {}", due, now, now == 1 ? "" : "s", enough)}};
}

}  // namespace windtunnel
