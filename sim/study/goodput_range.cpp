#include "sim/study/goodput_range.hpp"

#include <algorithm>
#include <utility>

#include "sim/study/paired_trials.hpp"

namespace windtunnel {
namespace {

constexpr int kTrialsAgain = 16;  // few suffice, because paired trials have the same failures

}  // namespace

IterationTable scaled(IterationTable table, double factor) {
  for (auto* times : {&table.iteration_s, &table.shrunk_iteration_s, &table.slow_iteration_s}) {
    for (double& seconds : *times) seconds *= factor;
  }
  for (TierTiming& timing : table.tiers) {
    for (double* seconds :
         {&timing.complete_s, &timing.restore_s, &timing.rebuild_s, &timing.storage_s,
          &timing.reshape_s, &timing.convert_s, &timing.startup.alone_s, &timing.startup.storm_s}) {
      *seconds *= factor;
    }
  }
  for (IslandLevel& level : table.islands.levels) {
    level.exchange_s *= factor;
    level.stream_s *= factor;
  }
  table.anew.alone_s *= factor;
  table.anew.storm_s *= factor;
  table.warmup.step_s *= factor;
  return table;
}

GoodputRange goodput_range(const CampaignInputs& inputs, const CampaignReport& report,
                           const ErrorFactors& factors, int threads) {
  const int trials = std::min(kTrialsAgain, paired_trials(report));
  const auto goodput_at = [&](double times) {
    CampaignInputs again = inputs;
    again.table = scaled(inputs.table, times);
    return paired_goodput(std::move(again), report, trials, threads).mean;
  };
  return {.if_faster = goodput_at(1 / factors.shorter), .if_slower = goodput_at(factors.longer)};
}

}  // namespace windtunnel
