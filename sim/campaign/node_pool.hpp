// Which node stands where: the nodes of the job, its spares, and those in repair. Nodes are
// numbered from 0, the spares after those of the job; slot i of the job starts with node i.
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
  // `recovery` must outlive it.
  NodePool(const RecoveryPolicy& recovery, int nodes, double length_s);

  int node_at(int slot) const { return node_at_[slot]; }
  int empty_slots() const { return static_cast<int>(empty_.size()); }
  const std::deque<int>& empty() const { return empty_; }  // in the order in which they became so

  // The node in this slot leaves for repair; a spare takes its place if there is one. Returns the
  // time until that one can join. `reclaimed`: it leaves for good, and the provider gives a new one
  // in that time, which neither waits for a repair slot nor has failed before.
  double replace(int slot, double now_s, double repair_s, bool reclaimed = false);

  // When the next node comes back from repair; infinite: none.
  double next_back_s() const;
  struct Back {
    double at_s;
    int node;
    bool evicted;        // not taken back
    int slot = kNobody;  // that it takes, if one was empty
  };
  // The next that has come back by now_s: to an empty slot, else to the spares.
  std::optional<Back> take_back(double now_s);

  double down_s() const;  // of all nodes, in repair or waiting for it, within the campaign
  std::int64_t evicted() const { return evicted_; }

 private:
  struct Broken {
    int node;
    double repair_s;
    double failed_s;
  };
  struct Spare {
    int node;
    double ready_s;  // infinite: no repair of it has begun
  };
  void begin_repair(const Broken& broken, double at_s);
  bool is_evicted(int node, double now_s);

  const RecoveryPolicy& recovery_;
  double length_s_;
  std::vector<int> node_at_;
  std::deque<int> empty_;
  std::deque<Spare> spares_;
  std::deque<Broken> queue_;  // for repair
  // A node in repair: when it comes back, its number, whether it must not be taken, whether it is
  // new.
  using InRepair = std::tuple<double, int, bool, bool>;
  std::priority_queue<InRepair, std::vector<InRepair>, std::greater<>> repairs_;
  std::map<int, std::vector<double>> failed_s_;  // by node, where nodes are evicted
  CompensatedSum down_s_;
  std::int64_t evicted_ = 0;
  int next_node_;    // number of the next new one
  int awaited_ = 0;  // new ones
};

}  // namespace windtunnel
