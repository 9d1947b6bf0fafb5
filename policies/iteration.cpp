#include "policies/iteration.hpp"

#include <algorithm>
#include <cmath>

#include "models/compression/boundary.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/cost/parallel/tensor_ops.hpp"
#include "models/cost/parallel/tensor_rules.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/stage_cost.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/lengths/length_plan.hpp"
#include "policies/outer/outer_period.hpp"

namespace windtunnel {
namespace {

// The functions that depend on how the sequences of a batch are assigned to GPUs.
struct Strategy {
  void (*check)(const Job&);
  PreparedIteration (*prepare)(const Job&, const SharedGeometry&, const SharedPacks&);
  IterationEstimate (*estimate)(const Job&, const PreparedIteration&);
  double (*step_s)(const Job&, const PreparedIteration&);
  LeastIteration (*least)(const Job&);
};

const Strategy& strategy_of(const Job& job) {
  static constexpr Strategy kAlike{
      [](const Job&) {},
      [](const Job& own, const SharedGeometry& known, const SharedPacks& /*packs*/) {
        return prepare_microbatches(own, known);
      },
      estimate_microbatches, microbatches_step_s, least_microbatches};
  static constexpr Strategy kUnequal{
      check_lengths,
      [](const Job& own, const SharedGeometry& /*known*/, const SharedPacks& packs) {
        return prepare_lengths(own, packs);
      },
      estimate_lengths, lengths_step_s, least_lengths};
  return job.lengths ? kUnequal : kAlike;
}

// Returns `step_s` plus the mean time that exchanges between islands add to a step.
double with_sync(const Job& job, const PreparedIteration& prepared, double step_s) {
  return job.sync.empty() ? step_s
                          : mean_step(job.sync, sync_seconds(job, prepared, step_s), step_s).all_s;
}

// Returns a lower bound of the step time under the job's schedule: its passes alone, with messages
// that take no time. Returns 0, which bounds nothing, if steps follow one another without a flush.
// Also returns 0 if the job has packs of sequences and jitter, because drawn steps may be shorter.
double passes_s(const Job& job, const PreparedIteration& prepared) {
  if (job.lengths && job.cluster.jitter.active()) return 0;
  const auto makespan_s = [](const Schedule& schedule, const std::vector<ChunkCost>& units) {
    if (schedule.iterations > 1) return 0.0;
    return evaluate_schedule(schedule, stage_costs(units), 0).makespan_s;
  };
  if (prepared.kinds.empty()) return makespan_s(prepared.schedule, prepared.units);
  double longest_s = 0;  // no step ends before the steps of all replicas
  for (const ReplicaCosts& own : prepared.kinds) {
    longest_s = std::max(longest_s, makespan_s(own.schedule, own.units));
  }
  return longest_s;
}

}  // namespace

PreparedIteration prepare_iteration(const Job& job, const SharedGeometry& geometry,
                                    const SharedPacks& packs) {
  check_conflicts(job);
  check_layers(job);
  return prepare_checked(job, geometry, packs);
}

PreparedIteration prepare_checked(const Job& job, const SharedGeometry& geometry,
                                  const SharedPacks& packs) {
  return strategy_of(job).prepare(job, geometry, packs);
}

void check_layers(const Job& job) {
  check_conflicts(layout_conflicts(), job);
  if (job.network) check_network(job);
  check_layout(job.model, job.layout, job.batch, job.cluster.gpus(), job.cluster.node.gpus);
  check_pattern_layout(job.model, job.layout);
  check_tensor_overlap(job);
  check_boundary(job);
  check_sequences(job);
}

void check_sequences(const Job& job) {
  strategy_of(job).check(job);
}

Plan iteration_plan(const Job& job, const PreparedIteration& prepared,
                    const IterationPlanOptions& options) {
  const bool elsewhere = prepared.balanced && !is_of_pool(job, prepared);
  return plan_iteration(job, elsewhere ? prepare_lengths(job) : prepared, options);
}

std::vector<SyncSeconds> sync_seconds(const Job& job, const PreparedIteration& prepared,
                                      double step_s) {
  const SharedGeometry geometry = geometry_of(job, prepared.geometry);
  std::vector<SyncSeconds> levels =
      sync_seconds(job, prepared.schedule, prepared.chunks, geometry->network(), step_s);
  for (int level = 0; level < std::ssize(levels); ++level) {
    if (job.sync[level].start != SyncStart::layers) continue;
    const Job layered = layered_step(job, level);
    const double with_s = iteration_step_s(layered, prepare_checked(layered));
    levels[level].exposed_s = std::max(0.0, with_s - (1 + job.sync[level].hiding_steps()) * step_s);
  }
  fit_on_links(job.sync, levels, step_s);
  return levels;
}

Job layered_step(const Job& job, int level) {
  Job layered = job;
  layered.sync.clear();
  // In an island of one replica sharding changes nothing.
  layered.layout.sharding = Sharding::none;
  layered.layout.shard_ranks = 0;
  layered.communication.compressors.dp = {};
  std::vector<int>& groups = layered.layout.sync_groups;
  groups.erase(groups.begin(), groups.begin() + level + 1);
  // The layers of a fragment are not consecutive. A part of each layer represents them.
  const double bytes = job.sync[level].element_bytes / job.sync[level].fragments;
  layered.software.reduce_bytes = bytes;
  return layered;
}

IterationEstimate estimate_iteration(const Job& job, const PreparedIteration& prepared) {
  IterationEstimate estimate = strategy_of(job).estimate(job, prepared);
  if (job.sync.empty()) return estimate;
  const std::vector<SyncSeconds> levels = sync_seconds(job, prepared, estimate.step_s);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const double exposed_s = mean_exposed_s(job.sync[level], levels[level]);
    estimate.step_s += exposed_s;
    estimate.seconds[static_cast<int>(Category::sync)] += exposed_s;
    estimate.origin_s[static_cast<int>(levels[level].origin)] += exposed_s;
  }
  return estimate;
}

double iteration_step_s(const Job& job, const PreparedIteration& prepared) {
  return with_sync(job, prepared, strategy_of(job).step_s(job, prepared));
}

std::optional<double> iteration_step_s_unless(const TooLong& too_long, const Job& job,
                                              const PreparedIteration& prepared) {
  if (too_long(passes_s(job, prepared))) return std::nullopt;
  if (job.lengths || !job.sync.empty()) return iteration_step_s(job, prepared);
  return microbatches_step_s_unless(too_long, job, prepared);
}

double repriced_step_s(const Job& job, PreparedIteration& prepared) {
  if (job.lengths) {  // costs decide which GPUs get which pack
    prepared = prepare_iteration(job);
    return iteration_step_s(job, prepared);
  }
  reprice_microbatches(job, prepared);
  return with_sync(job, prepared, microbatches_step_s(job, prepared));
}

StepSpread host_spread(const Job& job, const PreparedIteration& prepared) {
  if (job.software.cuda_graphs) return {};
  const auto step_s = [&](double Parameter::*end) {
    Job other = job;
    const auto move_host = [&](Calibration& calibration) {
      for (Parameter Calibration::*each :
           {&Calibration::host_launch_s, &Calibration::host_kernel_s}) {
        Parameter& parameter = calibration.*each;
        parameter.value = parameter.*end;
      }
    };
    move_host(other.calibration);
    std::ranges::for_each(other.pool_calibrations, move_host);
    PreparedIteration repriced = prepared;
    return repriced_step_s(other, repriced);
  };
  const double as_known_s = iteration_step_s(job, prepared);
  return {std::log(std::max(1.0, as_known_s / step_s(&Parameter::low))),
          std::log(std::max(1.0, step_s(&Parameter::high) / as_known_s))};
}

LeastIteration least_iteration(const Job& job) {
  return strategy_of(job).least(job);
}

}  // namespace windtunnel
