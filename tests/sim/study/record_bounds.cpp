#include "tests/sim/study/record_bounds.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <numeric>

#include "models/base/error.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/power/power_report.hpp"
#include "models/results/rank_parts.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

double sum(const auto& values) {
  return std::accumulate(std::begin(values), std::end(values), 0.0);
}

bool in_order(const Estimate& estimate) {
  return estimate.low <= estimate.mean && estimate.mean <= estimate.high &&
         estimate.p05 <= estimate.p95;
}

// Sums over all GPUs in the reported steps; each recorded rank counts as often as it stands for
// others.
double gpus_energy_J(const Record& record, double from_s, double to_s) {
  const PowerSpec& spec = record.studies.find<PowerReport>()->spec;
  double energy_J = 0;
  for (const RankTimeline& rank : record.timeline.ranks) {
    const NodePower& node = spec.of_pool(record.job.cluster.pool_of(rank.rank));
    const PowerCurve curve =
        gpu_curve(spec, node, activity_steps(record.plan.classes[rank.rank_class], rank));
    energy_J += rank.multiplicity * range_of(curve, from_s, to_s).energy_J;
  }
  return energy_J;
}

bool energy_is_the_integral(const Record& record) {
  const auto* found = record.studies.find<PowerReport>();
  if (found == nullptr) return true;
  const PowerReport& power = *found;
  const Cluster& cluster = record.job.cluster;
  const SteadyWindow window = reported_window(record.job, record.plan);
  const auto end_s = [&](int iteration) {
    return foreground_end_s(record.plan, record.timeline, iteration);
  };
  const double from_s = window.last > window.first ? end_s(window.first) : 0;
  const double to_s = end_s(window.last);
  const NodePower& node = power.spec.of_pool(0);
  const double rest_W = cluster.nodes * node.rest_W.value + power.network_W;
  const double energy_J = gpus_energy_J(record, from_s, to_s) + rest_W * (to_s - from_s);
  return near(power.cluster.energy_J, energy_J) &&
         near(power.step_J, power.spec.pue * energy_J * record.iteration.time_s / (to_s - from_s));
}

bool power_is_within_limits(const Record& record) {
  const auto* found = record.studies.find<PowerReport>();
  if (found == nullptr) return true;
  const PowerReport& power = *found;
  const Cluster& cluster = record.job.cluster;
  const NodePower& node = power.spec.of_pool(0);
  const double most_W =
      cluster.nodes * (cluster.node.gpus * node.gpu_W.value + node.rest_W.value) + power.network_W;
  const double above = 1 + kRounding;
  return power.idle_W <= power.cluster.least_W * above &&
         power.cluster.least_W <= power.cluster.mean_W * above &&
         power.cluster.mean_W <= power.cluster.peak_W * above &&
         power.cluster.peak_W <= most_W * above && power.aligned <= above &&
         power.rack.peak_W <= power.spec.rack_nodes * power.node.peak_W * above &&
         power.run->energy_J.mean >= power.undisturbed_J * (1 - kRounding);
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
      {"causal attention in half is less than in full, and HFU at least MFU",
       [](const Record& record) {
         const IterationReport& report = record.iteration;
         return report.mfu_causal <= report.mfu * (1 + kRounding) &&
                report.hfu_causal <= report.hfu * (1 + kRounding) &&
                report.hfu_causal >= report.mfu_causal * (1 - kRounding);
       }},
      {"a step takes at least its FLOPs at the peak",
       [](const Record& record) {
         return record.iteration.mfu > 0 && record.iteration.hfu_causal <= 1 + kRounding;
       }},
      {"the critical path adds up to the step",
       [](const Record& record) {
         return near(sum(record.iteration.critical_path_s), record.iteration.time_s);
       }},
      {"the parts of each rank add up to the simulated step",
       [](const Record& record) {
         if (record.timeline.ranks.empty()) return true;
         const double step_s = iteration_s(record.job, record.plan, record.timeline);
         const auto ranks = rank_parts(record.job, record.plan, record.timeline);
         return !ranks.empty() && std::ranges::all_of(ranks, [&](const RankParts& rank) {
           return near(sum(rank.seconds) + rank.bubble_s, step_s) && rank.bubble_s >= 0 &&
                  std::ranges::all_of(rank.seconds,
                                      [&](double s) { return s >= -kRounding * step_s; });
         });
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
      {"the energy of a step is the integral of power", energy_is_the_integral},
      {"power is between idling and the limits", power_is_within_limits},
      {"what does not fit in memory is told",
       [](const Record& record) {
         const double usable = usable_bytes(record.job.cluster.node.gpu);
         return fullest_bytes(record.iteration.memory) <= usable || !record.memory_excess.empty();
       }},
      {"snapshots stall no longer than they take",
       [](const Record& record) {
         // Time counts from the start of the last rank. Under jitter ranks that start earlier share
         // its paths and wait for it, for less than a step.
         const double apart_s = record.job.cluster.is_drawn() ? record.iteration.time_s : 0;
         return std::ranges::all_of(record.campaign->tiers, [&](const TierReport& tier) {
           return tier.stall_s <= tier.saving_s * (1 + kRounding) + apart_s && tier.overhead >= 0 &&
                  tier.survival_7d >= 0 && tier.survival_7d <= 1;
         });
       }},
  };
  return all;
}

void expect_run_or_refused(const RandomJobs& random, int block) {
  const int in_block = random.jobs / random.blocks;
  const std::uint64_t first = std::uint64_t(block) * 100 * in_block;
  int ran = 0;
  for (std::uint64_t number = first; ran < in_block; ++number) {
    ASSERT_LT(number, first + 100 * in_block) << "the reader refuses nearly all jobs";
    const std::string text = random.text(number);
    const std::string file = fmt::format("{}-{}.yaml", random.name, number);
    try {
      const Record record = simulate(parse_case(text, file), {.threads = 1, .allow_oom = true});
      ++ran;
      random.check(record, text);
    } catch (const Error& error) {
      const std::string why = error.what();
      EXPECT_TRUE(why.starts_with(file + ":")) << why << "\n" << text;
    } catch (const std::exception& fault) {
      ADD_FAILURE() << fault.what() << "\n" << text;
    }
  }
}

std::function<void(const Record& record, const std::string& text)> within_bounds(
    const std::vector<RecordBound>& more) {
  return [&more](const Record& record, const std::string& text) {
    for (const std::vector<RecordBound>* bounds : {&record_bounds(), &more}) {
      for (const RecordBound& bound : *bounds) {
        EXPECT_TRUE(bound.holds(record)) << "not so: " << bound.name << "\n" << text;
      }
    }
  };
}

}  // namespace windtunnel
