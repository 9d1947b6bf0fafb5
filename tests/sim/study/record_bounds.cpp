#include "tests/sim/study/record_bounds.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"

namespace windtunnel {
namespace {

double sum(const auto& values) {
  return std::accumulate(std::begin(values), std::end(values), 0.0);
}

bool in_order(const Estimate& estimate) {
  return estimate.low <= estimate.mean && estimate.mean <= estimate.high &&
         estimate.p05 <= estimate.p95;
}

}  // namespace

const std::vector<RecordBound>& record_bounds() {
  static const std::vector<RecordBound> all = {
      {"goodput is a share",
       [](const Record& record) {
         const Estimate& goodput = record.campaign->goodput;
         return goodput.low >= 0 && goodput.high <= 1 && in_order(goodput);
       }},
      {"ETTR is a share, and goodput at most",
       [](const Record& record) {
         const Estimate& ettr = record.campaign->ettr;
         return in_order(ettr) && ettr.high <= 1 &&
                ettr.mean >= record.campaign->goodput.mean * (1 - kRounding);
       }},
      {"HFU is at least MFU",
       [](const Record& record) {
         return record.iteration.hfu >= record.iteration.mfu * (1 - kRounding);
       }},
      {"a step takes at least its FLOPs at the peak",
       [](const Record& record) {
         return record.iteration.mfu > 0 && record.iteration.hfu <= 1 + kRounding;
       }},
      {"the critical path adds up to the step",
       [](const Record& record) {
         return near(sum(record.iteration.critical_path_s), record.iteration.time_s);
       }},
      {"what the time rests on adds up to it",
       [](const Record& record) {
         return near(sum(record.iteration.origin_s), record.iteration.time_s) &&
                near(sum(record.origin), 1);
       }},
      {"bubbles are parts of the step",
       [](const Record& record) {
         const IterationReport& report = record.iteration;
         const double rounding_s = kRounding * report.time_s;
         return report.bubble.makespan_s >= -rounding_s &&
                report.bubble.longest_stage_s <= report.bubble.makespan_s + rounding_s &&
                report.bubble.makespan_s <= report.time_s && report.bubble.idle >= 0 &&
                report.bubble.idle <= 1;
       }},
      {"throughput is the batch over the step",
       [](const Record& record) {
         const IterationReport& report = record.iteration;
         return near(report.tokens_per_s * report.time_s, tokens_per_step(record.job));
       }},
      {"the campaign's seconds add up to its wall time",
       [](const Record& record) {
         const CampaignReport& report = *record.campaign;
         double all_s = report.useful_s.mean;
         for (const Estimate& lost : report.lost_s) all_s += lost.mean;
         return near(all_s, report.wall_s.mean);
       }},
      {"what does not fit in memory is told",
       [](const Record& record) {
         const double usable = usable_bytes(record.job.cluster.node.gpu);
         return fullest_bytes(record.iteration.memory) <= usable || !record.memory_excess.empty();
       }},
      {"snapshots stall no longer than they take",
       [](const Record& record) {
         // From when the last rank begins; under jitter those that begin before it share its paths,
         // and are held up by what they wait for it as well: less than a step.
         const double apart_s = record.job.cluster.is_drawn() ? record.iteration.time_s : 0;
         return std::ranges::all_of(record.campaign->tiers, [&](const TierReport& tier) {
           return tier.stall_s <= tier.saving_s * (1 + kRounding) + apart_s && tier.overhead >= 0 &&
                  tier.survival_7d >= 0 && tier.survival_7d <= 1;
         });
       }},
  };
  return all;
}

}  // namespace windtunnel
