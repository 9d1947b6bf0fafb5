#include "sim/study/goodput_range.hpp"

#include <algorithm>

namespace windtunnel {
namespace {

constexpr int kTrialsAgain = 16;  // trials in pairs: what differs between them is nearly no noise

}  // namespace

IterationTable scaled(IterationTable table, double factor) {
  for (auto* times : {&table.iteration_s, &table.shrunk_iteration_s, &table.slow_iteration_s}) {
    for (double& seconds : *times) seconds *= factor;
  }
  for (TierTiming& timing : table.tiers) {
    for (double* seconds : {&timing.complete_s, &timing.restore_s, &timing.rebuild_s,
                            &timing.storage_s, &timing.reshape_s}) {
      *seconds *= factor;
    }
  }
  table.warmup.step_s *= factor;
  return table;
}

GoodputRange goodput_range(const CampaignInputs& inputs, const CampaignReport& report,
                           double factor, int threads) {
  CampaignInputs again = inputs;
  again.campaign.trials = std::min(inputs.campaign.trials, kTrialsAgain);
  const auto first = report.trial_goodput.begin();
  const double same = estimate({first, first + again.campaign.trials}).mean;
  const auto goodput_at = [&](double times) {
    again.table = scaled(inputs.table, times);
    const double other = run_campaign(again, threads).goodput.mean;
    return std::clamp(report.goodput.mean + other - same, 0.0, 1.0);
  };
  return {.if_faster = goodput_at(1 / factor), .if_slower = goodput_at(factor)};
}

}  // namespace windtunnel
