// By which factor the kernels of a rank are slower than calibrated, because its node is slow or by
// the cluster's jitter in the Plan's draw. Every executor asks here, so all see the same
// stragglers.
#pragma once

#include <span>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

class KernelPace {
 public:
  KernelPace(const Plan& plan, const Cluster& cluster);  // keeps references

  // The slowdown factors of a rank, indexed by place() and valid until the next call. Ranks in step
  // (Plan::in_step) share their draws, so it is cheap to ask in ascending order.
  std::span<const double> slowdowns(RankId rank);

  // Index of a task's factor in slowdowns(): without jitter one factor holds for all tasks,
  // otherwise there is one per iteration or per task.
  std::size_t place(TaskIndex task, int iteration) const {
    if (!jitters_) return 0;
    return per_task_ ? task : iteration;
  }

 private:
  void draw(int group, std::size_t count);

  const Plan& plan_;
  const Cluster& cluster_;
  const bool jitters_;
  const bool per_task_;
  std::vector<ClassMember> of_rank_;  // used when factors are per task
  int group_ = -1;                    // the group whose factors are in drawn_
  std::vector<double> drawn_, result_;
};

}  // namespace windtunnel
