#include "models/plan/kernel_pace.hpp"

#include <algorithm>

#include "models/machine/slowest_factors.hpp"

namespace windtunnel {

KernelPace::KernelPace(const Plan& plan, const Cluster& cluster)
    : plan_(plan),
      cluster_(cluster),
      jitters_(cluster.jitter.active()),
      per_task_(cluster.jitter.per == JitterPer::task) {
  if (jitters_ && per_task_) of_rank_ = class_of_rank(plan);
}

std::span<const double> KernelPace::slowdowns(RankId rank) {
  const double slow_node = cluster_.slowdown_of(rank);
  if (!jitters_) {
    result_.assign(1, slow_node);
    return result_;
  }
  const std::size_t count =
      per_task_ ? plan_.classes[of_rank_[rank].rank_class].tasks.size() : plan_.iterations;
  if (group_ != rank / plan_.in_step) draw(rank / plan_.in_step, count);
  result_.resize(count);
  std::ranges::transform(drawn_, result_.begin(), [&](double drawn) { return drawn * slow_node; });
  return result_;
}

// Draws the largest factors of the ranks of a group, which stay in step.
void KernelPace::draw(int group, std::size_t count) {
  group_ = group;
  std::vector<int> units;
  for (int gpu = group * plan_.in_step; gpu < (group + 1) * plan_.in_step; ++gpu) {
    const int unit = cluster_.jitter.of == JitterOf::node ? cluster_.node_of(gpu) : gpu;
    if (units.empty() || unit != units.back()) units.push_back(unit);
  }
  drawn_.resize(count);
  slowest_factors(cluster_.jitter, units, plan_.draw, drawn_);
}

}  // namespace windtunnel
