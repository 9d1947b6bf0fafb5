#include "sim/study/paired_trials.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace windtunnel {
namespace {

// Returns the slope of the least-squares line through the points; 1 if it is undetermined.
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  const double x_mean = estimate(x).mean;
  const double y_mean = estimate(y).mean;
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    products += (x[i] - x_mean) * (y[i] - y_mean);
    squares += (x[i] - x_mean) * (x[i] - x_mean);
  }
  return squares > 0 ? products / squares : 1;
}

}  // namespace

int paired_trials(const CampaignReport& report) {
  constexpr double kFailures = 1e5;
  constexpr double kLeast = 8;
  const double per_trial =
      report.failures.at("planned").mean + report.failures.at("unexpected").mean;
  const auto all = static_cast<double>(report.trial_goodput.size());
  return static_cast<int>(std::min(all, std::max(kLeast, std::ceil(kFailures / per_trial))));
}

PairedCampaign paired_campaign(CampaignInputs other, const CampaignReport& report, int trials,
                               int threads) {
  other.campaign.trials = trials;
  const CampaignReport again = run_campaign(other, threads);
  PairedCampaign paired{again.goodput, again.trial_goodput};
  if (trials == std::ssize(report.trial_goodput)) return paired;
  const auto first = report.trial_goodput.begin();
  const std::vector<double> same(first, first + trials);
  const double moved =
      slope(same, again.trial_goodput) * (report.goodput.mean - estimate(same).mean);
  Estimate& goodput = paired.goodput;
  for (double* value : {&goodput.mean, &goodput.low, &goodput.high, &goodput.p05, &goodput.p95}) {
    *value = std::clamp(*value + moved, 0.0, 1.0);
  }
  return paired;
}

Estimate paired_goodput(CampaignInputs other, const CampaignReport& report, int trials,
                        int threads) {
  return paired_campaign(std::move(other), report, trials, threads).goodput;
}

}  // namespace windtunnel
