#include "models/plan/joined_plan.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/machine/fabrics/job_places.hpp"

namespace windtunnel {
namespace {

void shift(std::vector<std::vector<std::int32_t>>& slots, std::int32_t by) {
  for (auto& slot : slots) {
    for (std::int32_t& index : slot) index += by;
  }
}

// A task that waits for a predecessor or for a message is delayed with it, so only the others are
// shifted.
void start_at(double start_s, RankClass& rank_class) {
  for (Task& task : rank_class.tasks) {
    if (!task.after.empty() || task.kind == TaskKind::recv) continue;
    task.not_before_s = std::max(task.not_before_s, start_s);
  }
}

}  // namespace

JoinedPlan joined(std::vector<Plan> plans, const std::vector<double>& start_s) {
  CHECK(plans.size() == start_s.size(), "{} starts of {} plans", start_s.size(), plans.size());
  JoinedPlan result;
  Plan& plan = result.plan;
  for (std::size_t job = 0; job < plans.size(); ++job) {
    Plan& own = plans[job];
    const RankId first_rank = plan.ranks;
    const auto first_group = static_cast<std::int32_t>(plan.groups.size());
    const auto first_exchange = static_cast<std::int16_t>(plan.exchanges.size());
    result.first_class.push_back(static_cast<std::int32_t>(plan.classes.size()));
    for (Group& group : own.groups) {
      for (RankId& member : group.members) member += first_rank;
    }
    for (RankClass& rank_class : own.classes) {
      for (RankId& member : rank_class.members) member += first_rank;
      shift(rank_class.groups, first_group);
      shift(rank_class.peers, first_rank);
      for (Task& task : rank_class.tasks) {
        if (task.exchange >= 0) task.exchange = std::int16_t(task.exchange + first_exchange);
      }
      start_at(start_s[job], rank_class);
    }
    plan.ranks += own.ranks;
    plan.iterations = std::max(plan.iterations, own.iterations);
    std::ranges::move(own.groups, std::back_inserter(plan.groups));
    std::ranges::move(own.exchanges, std::back_inserter(plan.exchanges));
    std::ranges::move(own.classes, std::back_inserter(plan.classes));
  }
  result.first_class.push_back(static_cast<std::int32_t>(plan.classes.size()));
  return result;
}

Cluster joined(const std::vector<const Cluster*>& clusters) {
  CHECK(!clusters.empty(), "a machine without jobs");
  Cluster all = *clusters.front();
  all.machine_nodes = clusters.front()->fabric_nodes();
  all.nodes = 0;
  all.places.clear();
  std::vector<int> gpus;  // [rank of all jobs]
  for (const Cluster* cluster : clusters) {
    CHECK(cluster->fabric_nodes() == all.machine_nodes, "jobs on machines of {} and {} nodes",
          all.machine_nodes, cluster->fabric_nodes());
    for (int node = 0; node < cluster->nodes; ++node) all.places.push_back(cluster->place_of(node));
    for (int rank = 0; rank < cluster->gpus(); ++rank) {
      gpus.push_back(all.gpus() + cluster->ranks.gpu_of(rank));
    }
    all.nodes += cluster->nodes;
    if (std::ranges::count(pools_in_use(*cluster), true) > 1) {
      all.node = all.shared = cluster->shared;
    }
  }
  all.ranks = RankMap(std::move(gpus));
  return all;
}

}  // namespace windtunnel
