#include "sim/engine/engine.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "sim/engine/child.hpp"
#include "sim/engine/flow_table.hpp"
#include "sim/engine/fold.hpp"
#include "sim/engine/rank_program.hpp"
#include "sim/engine/sampled_fold.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/timeline_replay.hpp"

namespace windtunnel {
namespace {

// Writing and reading use the same list of the fields.
template <class Value, class Visit>
void visit_fields(Value& timeline, const Visit& field) {
  field(timeline.recorded_as);
  field(timeline.makespan_s);
  field(timeline.iteration_end_s);
  field(timeline.events);
  field(timeline.ranks_simulated);
  field(timeline.sampled_of);
  field(timeline.peak_rss_bytes);
}

template <class Value, class Visit>
void visit_rank_fields(Value& rank, const Visit& field) {
  field(rank.rank);
  field(rank.rank_class);
  field(rank.multiplicity);
  field(rank.spans);
}

void send(const Timeline& timeline, PipeWriter& out) {
  const auto put = [&out](const auto& value) { out.put(value); };
  visit_fields(timeline, put);
  out.put(timeline.ranks.size());
  for (const RankTimeline& rank : timeline.ranks) visit_rank_fields(rank, put);
}

Timeline receive(PipeReader& in) {
  const auto get = [&in](auto& value) { in.get(value); };
  Timeline timeline;
  visit_fields(timeline, get);
  std::size_t ranks = 0;
  in.get(ranks);
  timeline.ranks.resize(ranks);
  for (RankTimeline& rank : timeline.ranks) visit_rank_fields(rank, get);
  return timeline;
}

// Returns what `simulate` returns in a child.
std::optional<Timeline> in_child(const std::function<std::optional<Timeline>()>& simulate) {
  std::optional<Timeline> timeline;
  run_in_child(
      [&](PipeWriter& out) {
        const std::optional<Timeline> simulated = simulate();
        out.put(simulated.has_value());
        if (simulated) send(*simulated, out);
      },
      [&](PipeReader& in) {
        bool has = false;
        in.get(has);
        if (has) timeline = receive(in);
      });
  return timeline;
}

// Returns for each rank of the Plan the rank whose spans are recorded for it. Identical ranks have
// one record, even without folding, unless options.record_all.
std::vector<RankId> recorded_by(const Plan& plan, const Cluster& cluster, const FlowTable& flows,
                                const Folding& folding, const EngineOptions& options) {
  const bool again = options.fold == FoldMode::none && !options.record_all;
  const Folding alike = again ? fold(plan, cluster, flows, FoldMode::exact) : Folding();
  const Folding& by = again ? alike : folding;
  std::vector<RankId> recorded;
  for (const std::int32_t representative : by.representative) {
    recorded.push_back(by.ranks[representative].rank);
  }
  return recorded;
}

// If a sample of ranks is simulated, a smaller sample runs first, because the average load on a
// link depends on the duration of the plan.
Folding folded(const Plan& plan, const Cluster& cluster, const FlowTable& flows,
               const EngineOptions& options) {
  Folding folding = fold(plan, cluster, flows, options.fold, options.fold_limits);
  if (folding.sampled_of == 0) return folding;
  const std::int64_t ranks = options.fold_limits.sampled_ranks;
  const std::optional<Timeline> first = in_child([&] {
    const Folding few = sampled_fold(plan, cluster, flows, ranks / 4);
    return simulate_program(plan, cluster, flows, few, make_program(plan, flows, few),
                            recorded_by(plan, cluster, flows, few, options));
  });
  Folding sampled = sampled_fold(plan, cluster, flows, ranks, first->makespan_s);
  sampled.sampled_of = folding.sampled_of;
  return sampled;
}

double tasks_of(const Plan& plan, const Folding& folding) {
  double tasks = 0;
  for (const FoldedRank& rank : folding.ranks) {
    tasks += static_cast<double>(plan.classes[rank.rank_class].tasks.size());
  }
  return tasks;
}

Timeline replayed(const Plan& plan, const Cluster& cluster, const EngineOptions& options) {
  const Cluster calm = in_step(cluster);
  const Timeline steady = execute(plan, calm, options);
  if (steady.sampled_of > 0) return replay(plan, cluster, steady, steady);
  const std::optional<Timeline> alone = in_child([&] {
    const FlowTable flows = flow_table(plan, calm, options.calibration, options.pool_calibrations);
    const Folding folding = fold_of_one_replica(plan, calm, flows);
    return simulate_program(plan, calm, flows, folding, make_program(plan, flows, folding),
                            recorded_by(plan, calm, flows, folding, options));
  });
  return replay(plan, cluster, steady, *alone);
}

}  // namespace

Timeline execute(const Plan& plan, const Cluster& cluster, const EngineOptions& options) {
  CHECK(plan.ranks <= cluster.gpus(), "{} ranks on {} GPUs", plan.ranks, cluster.gpus());
  const bool may_replay = options.fold == FoldMode::automatic &&
                          (cluster.jitter.active() || !cluster.slow_nodes.empty());
  const FoldLimits& limits = options.fold_limits;
  double replay_tasks = 0;  // to replay a Timeline of fewer tasks would save nothing
  for (const RankClass& one : plan.classes) {
    replay_tasks += limits.replayed_classes * static_cast<double>(one.tasks.size());
  }
  const double most_tasks = std::max(replay_tasks, limits.unlike_tasks);
  if (may_replay && has_unlike_tasks(plan, cluster, most_tasks)) {
    return replayed(plan, cluster, options);
  }
  std::optional<Timeline> timeline = in_child([&]() -> std::optional<Timeline> {
    const FlowTable flows =
        flow_table(plan, cluster, options.calibration, options.pool_calibrations);
    const Folding folding = folded(plan, cluster, flows, options);
    if (may_replay && tasks_of(plan, folding) > most_tasks) return {};
    const Program program = make_program(plan, flows, folding);
    return simulate_program(plan, cluster, flows, folding, program,
                            recorded_by(plan, cluster, flows, folding, options));
  });
  return timeline ? *std::move(timeline) : replayed(plan, cluster, options);
}

}  // namespace windtunnel
