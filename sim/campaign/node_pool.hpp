// Which node is where: nodes of the job, spares, and nodes in repair. Nodes are numbered from 0,
// with spares after those of the job. Slot i of the job starts with node i.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "models/reliability/recovery.hpp"
#include "sim/campaign/account.hpp"

namespace windtunnel {

inline constexpr int kNobody = -1;

class NodePool {
 public:
  // `recovery` must outlive the pool.
  NodePool(const RecoveryPolicy& recovery, int nodes, double length_s);

  int node_at(int slot) const { return node_at_[slot]; }
  int empty_slots() const { return static_cast<int>(empty_.size()); }
  // in the order in which they became empty
  const std::deque<int>& empty() const { return empty_; }

  // The node in this slot leaves for repair; a spare, if there is one, takes its place. Returns the
  // time until the spare can join. `reclaimed`: the node leaves for good, and after `repair_s` the
  // provider supplies a new one, which needs no repair slot and has no history of failures.
  double replace(int slot, double now_s, double repair_s, bool reclaimed = false);

  // when the next node is back from repair; infinite: none
  double next_back_s() const;
  struct Back {
    double at_s;
    int node;
    bool evicted;        // not taken back into the job
    int slot = kNobody;  // the empty slot that it takes, if there is one
  };
  // Returns a node that is back by `now_s`: it goes to an empty slot, otherwise to the spares.
  std::optional<Back> take_back(double now_s);

  double down_s() const;  // sum over nodes: in repair or waiting for it, within the campaign
  std::int64_t evicted() const { return evicted_; }

 private:
  struct Broken {
    int node;
    double repair_s;
    double failed_s;
  };
  struct Spare {
    int node;
    double ready_s;  // infinite: it is not being made ready
  };
  void begin_repair(const Broken& broken, double at_s);
  bool is_evicted(int node, double now_s);

  const RecoveryPolicy& recovery_;
  double length_s_;
  std::vector<int> node_at_;
  std::deque<int> empty_;
  std::deque<Spare> spares_;
  std::deque<Broken> queue_;  // nodes that wait for repair
  // A node in repair: when it is back, its number, whether it is evicted, whether it is new.
  using InRepair = std::tuple<double, int, bool, bool>;
  std::priority_queue<InRepair, std::vector<InRepair>, std::greater<>> repairs_;
  std::map<int, std::vector<double>> failed_s_;  // by node; only if nodes are evicted
  CompensatedSum down_s_;
  std::int64_t evicted_ = 0;
  int next_node_;    // number of the next new node
  int awaited_ = 0;  // number of new nodes that are expected
};

}  // namespace windtunnel
