// Random small training jobs serve differential tests: pipeline, data and tensor parallel ranks
// with messages, collectives and copies, on clusters with odd pods, slow nodes and degraded NICs.
#pragma once

#include <cstdint>

#include "models/base/random.hpp"
#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "tests/sim/engine/plan_maker.hpp"

namespace windtunnel {

struct RandomCase {
  int tp = 1, dp = 1, pp = 1, microbatches = 1;
  bool slow = false, degraded = false, dp_flows = false;
  Cluster cluster;
  Plan plan;
};

class RandomCaseMaker {
 public:
  explicit RandomCaseMaker(std::uint64_t seed) : random_(seed, RandomPurpose::test, 0) {}

  RandomCase make() {
    c_.tp = 1 << pick(3);
    c_.dp = 1 + pick(6);
    c_.pp = 1 + pick(4);
    c_.microbatches = 1 + pick(4);
    c_.dp_flows = pick(3) > 0;
    make_cluster();
    make_plan();
    return c_;
  }

 private:
  int pick(int bound) { return static_cast<int>(random_.below(bound)); }
  double seconds() { return 0.5 + random_.uniform(); }

  void make_cluster() {
    const int gpus_per_node = 1 << pick(4);
    const int ranks = c_.tp * c_.dp * c_.pp;
    c_.cluster = small_cluster((ranks + gpus_per_node - 1) / gpus_per_node);
    Cluster& cluster = c_.cluster;
    cluster.node.gpus = gpus_per_node;
    cluster.node.nics = std::max(1, gpus_per_node >> pick(2));
    if (gpus_per_node > 1 && pick(3) == 0) {
      cluster.node.package_gpus = 2;
      cluster.node.package_Bps = exactly(100 * (1 + pick(4)));
    }
    cluster.fabric.topology = pick(2) ? Topology::rail_fat_tree : Topology::fat_tree;
    cluster.fabric.nodes_per_pod = pick(4);
    cluster.fabric.pod_oversubscription = 1 + pick(4);
    if (pick(3) == 0) {
      c_.slow = true;
      cluster.slow_nodes = {{pick(cluster.nodes), 1.25}};
    }
    if (pick(3) == 0) {
      c_.degraded = true;
      cluster.degraded_nics = {{pick(cluster.nodes), pick(cluster.node.nics), 0.5}};
    }
  }

  RankId rank_at(int tp, int dp, int pp) const {
    return tp + c_.tp * (dp + c_.dp * ((pp + c_.pp) % c_.pp));
  }

  void make_plan() {
    Plan& plan = c_.plan;
    plan.ranks = c_.tp * c_.dp * c_.pp;
    for (int pp = 0; pp < c_.pp; ++pp) {
      for (int tp = 0; tp < c_.tp; ++tp) {
        plan.groups.push_back({Category::dp, {}});
        for (int dp = 0; dp < c_.dp; ++dp)
          plan.groups.back().members.push_back(rank_at(tp, dp, pp));
      }
    }
    for (int pp = 0; pp < c_.pp; ++pp) {
      for (int dp = 0; dp < c_.dp; ++dp) {
        plan.groups.push_back({Category::tp, {}});
        for (int tp = 0; tp < c_.tp; ++tp)
          plan.groups.back().members.push_back(rank_at(tp, dp, pp));
      }
    }
    const std::vector<Task> tail = make_tail();
    const double tp_s = 0.1 * seconds();
    const double bytes = 5 * seconds();
    for (int pp = 0; pp < c_.pp; ++pp) plan.classes.push_back(make_class(pp, tp_s, bytes, tail));
  }

  // Returns the tasks that follow the pipeline: collectives over dp, a copy to the host, a write to
  // storage.
  std::vector<Task> make_tail() {
    std::vector<Task> tail;
    const int collectives = 1 + pick(2);
    for (int i = 0; i < collectives; ++i) {
      Task task = collective("dp", 1, 0, i, 0.1 * seconds());
      task.as_flows = c_.dp_flows;
      task.collective = static_cast<CollectiveKind>(pick(5));
      task.algorithm = static_cast<CollectiveAlgorithm>(pick(4));
      task.bytes = 10 * seconds();
      tail.push_back(task);
    }
    if (pick(2)) {
      tail.push_back(with_flow(plain(TaskKind::copy, "d2h", 2, 0.1), 20 * seconds(),
                               {{Resource::pcie_out, 1}, {Resource::host_memory, 1 + pick(2)}}));
    }
    if (pick(2)) {
      tail.push_back(with_flow(plain(TaskKind::store, "store", 2, 0.1), 5 * seconds(),
                               {{Resource::storage_write, 1}}, pick(2) ? 4.0 : 1e9));
    }
    return tail;
  }

  // Tasks are in GPipe order, all forward passes before all backward passes; a tp collective
  // follows every forward pass.
  RankClass make_class(int pp, double tp_s, double bytes, const std::vector<Task>& tail) {
    RankClass result;
    result.name = "pp " + std::to_string(pp);
    result.streams = {
        {"compute", {}}, {"dp", {}}, {"copy", {}}, {"send", {}}, {"recv", StreamOrder::unordered}};
    result.groups.resize(2);
    result.peers.resize(2);
    for (int dp = 0; dp < c_.dp; ++dp) {
      for (int tp = 0; tp < c_.tp; ++tp) {
        result.members.push_back(rank_at(tp, dp, pp));
        result.groups[0].push_back(pp * c_.tp + tp);
        result.groups[1].push_back(c_.pp * c_.tp + pp * c_.dp + dp);
        result.peers[0].push_back(rank_at(tp, dp, pp - 1));
        result.peers[1].push_back(rank_at(tp, dp, pp + 1));
      }
    }
    for (int i = 0; i < 2 * c_.microbatches; ++i) {
      add_step(result, pp, i % c_.microbatches, i < c_.microbatches, tp_s, bytes);
    }
    const auto last = static_cast<TaskIndex>(result.tasks.size() - 1);
    for (Task task : tail) {
      // The copy starts before the last compute task, so that it overlaps messages and compute.
      task.after = {task.kind == TaskKind::collective ? last : last_compute_};
      result.tasks.push_back(task);
    }
    return result;
  }

  void add_step(RankClass& result, int pp, int microbatch, bool forward, double tp_s,
                double bytes) {
    const bool first = pp == (forward ? 0 : c_.pp - 1);
    const bool last = pp == (forward ? c_.pp - 1 : 0);
    const auto tag = [&](int at) { return (at * 100 + microbatch) * 2 + forward; };
    std::vector<TaskIndex> after;
    const auto add = [&](Task task) {
      result.tasks.push_back(std::move(task));
      return static_cast<TaskIndex>(result.tasks.size() - 1);
    };
    if (!first) {
      const int from = forward ? pp - 1 : pp + 1;
      after = {add(recv("recv", 4, forward ? 0 : 1, tag(from), bytes))};
    }
    const TaskIndex step = last_compute_ = add(compute("step", 0, seconds(), after));
    Task reduce = collective("tp", 0, 1, sequence_of(pp, microbatch, forward), tp_s, {step});
    reduce.as_flows = true;
    reduce.bytes = 20;
    const TaskIndex reduced = add(reduce);
    if (!last) add(send("send", 3, forward ? 1 : 0, tag(pp), bytes, {reduced}));
  }

  int sequence_of(int, int microbatch, bool forward) const {
    return forward ? microbatch : c_.microbatches + microbatch;
  }

  RandomStream random_;
  RandomCase c_;
  TaskIndex last_compute_ = 0;
};

// Moves the same job to another fabric and routing.
inline void put_on_fabric(Cluster& cluster, Topology topology, Routing routing,
                          std::uint64_t seed) {
  RandomStream random(seed, RandomPurpose::test, 1);
  const auto pick = [&random](int bound) { return static_cast<int>(random.below(bound)); };
  FabricSpec& fabric = cluster.fabric;
  fabric.topology = topology;
  fabric.routing = routing;
  fabric.routing_seed = seed;
  fabric.parts = 1 + pick(3);
  fabric.uplinks = pick(3);
  fabric.nodes_per_pod = 1 + pick(4);
  fabric.nodes_per_leaf = 1 + pick(std::min(fabric.nodes_per_pod, cluster.nodes));
  fabric.leaf_oversubscription = 1 + pick(2);
  fabric.nodes_per_router = 1 + pick(2);
  fabric.routers_per_group = 1 + pick(3);
  fabric.local_Bps = exactly(15);
  fabric.global_Bps = exactly(8);
  int width = 1 + pick(4);
  while (cluster.nodes % width != 0) --width;
  fabric.dimensions = {width, cluster.nodes / width};
  fabric.link_Bps = exactly(12);
}

}  // namespace windtunnel
