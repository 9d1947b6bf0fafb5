#include "policies/lowering/expected_pace.hpp"

#include <algorithm>
#include <set>

#include "policies/evaluation/dispatch.hpp"
#include "policies/evaluation/schedule_stages.hpp"

namespace windtunnel {
namespace {

std::vector<double> slowdown_by_nodes(const Job& job) {
  const Layout& layout = job.layout;
  const int members = layout.ranks() / layout.pp;
  std::vector<double> slowdown(layout.pp, 1);
  if (job.cluster.slow_nodes.empty()) return slowdown;
  for (int first = 0; first < layout.ranks(); first += job.cluster.run_of(first)) {
    const int last = std::min(first + job.cluster.run_of(first), layout.ranks()) - 1;
    for (int pp = first / members; pp <= last / members; ++pp) {
      slowdown[pp] = std::max(slowdown[pp], job.cluster.slowdown_of(first));
    }
  }
  return slowdown;
}

struct JitterGroups {
  double units = 1;   // number of GPUs or nodes in a group in step
  double groups = 1;  // number of these groups in a pipeline rank
};
double nodes_of_first(const Cluster& cluster, int ranks) {
  std::set<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.insert(cluster.node_of(rank));
  return static_cast<double>(nodes.size());
}
JitterGroups jitter_groups(const Job& job) {
  const int members = job.layout.ranks() / job.layout.pp;
  const auto ganged = static_cast<double>(gangs(job, 0, members).size());
  const double in_step = ganged > 0 ? members / ganged : ranks_in_step(job.layout);
  const bool by_node = job.cluster.jitter.of == JitterOf::node;
  if (by_node && !job.cluster.ranks.in_order()) {
    const double units = nodes_of_first(job.cluster, static_cast<int>(in_step));
    return {units, std::max(1.0, nodes_of_first(job.cluster, members) / units)};
  }
  const double unit = by_node ? job.cluster.node.gpus : 1;
  return {std::max(1.0, in_step / unit), std::max(1.0, members / std::max(in_step, unit))};
}

// The seconds that a pipeline rank computes in an iteration, and the number of equally long tasks
// with independent factors whose sum varies as much.
struct RankWork {
  double seconds = 0;
  double squares = 0;  // sum of the squares of the tasks' seconds

  void add(double action_s, std::size_t tasks) {
    seconds += action_s;
    squares += action_s * action_s / static_cast<double>(std::max<std::size_t>(1, tasks));
  }
  double draws() const { return squares > 0 ? seconds * seconds / squares : 1; }
};

RankWork work_of(int rank, const Schedule& schedule, const std::vector<StageTimes>& times,
                 const DataParallel& data) {
  RankWork work;
  for (const Action& action : schedule.actions[rank]) {
    if (!is_compute(action.kind)) continue;
    const StageTraffic& traffic = data.stage(action.stage);
    const bool forward = action.kind == ActionKind::forward;
    const std::size_t cell =
        std::size_t(action.stage) * schedule.slices + action.unit % schedule.slices;
    work.add(times[cell].of(action.kind), (forward ? traffic.forward : traffic.backward).size());
  }
  return work;
}

}  // namespace

std::vector<double> expected_slowdowns(const Job& job, const Schedule& schedule,
                                       const std::vector<StageCost>& costs,
                                       const DataParallel& data) {
  std::vector<double> slowdown = slowdown_by_nodes(job);
  const Jitter& jitter = job.cluster.jitter;
  if (!jitter.active()) return slowdown;
  const std::vector<StageTimes> times = stage_times(schedule, costs, {{0}, {0}}, slowdown);
  std::vector<RankWork> works;
  for (int rank = 0; rank < job.layout.pp; ++rank) {
    works.push_back(work_of(rank, schedule, times, data));
  }
  const auto busiest = std::ranges::max_element(works, {}, &RankWork::seconds) - works.begin();
  const double draws = jitter.per == JitterPer::task ? works[busiest].draws() : 1;
  const auto [units, groups] = jitter_groups(job);
  // Ranks compete with the busiest if their slowest group may be later than its typical group.
  ExpectedFactors expected = expected_factors(jitter, units, groups, draws);
  const auto competes = [&](const RankWork& work) {
    return work.seconds * expected.slowest >= works[busiest].seconds * expected.group;
  };
  const auto ranks = static_cast<double>(std::ranges::count_if(works, competes));
  expected = expected_factors(jitter, units, groups * ranks, draws);
  for (int rank = 0; rank < job.layout.pp; ++rank) {
    slowdown[rank] *= rank == busiest ? expected.slowest : expected.group;
  }
  return slowdown;
}

}  // namespace windtunnel
