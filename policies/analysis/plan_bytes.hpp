// Bytes that the transfers of a Plan must move with any routes and algorithms: messages and
// all-to-alls from end to end, and for collectives what must enter and leave any set of ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

enum class CountedTransfers {
  as_flows,  // transfers that share links in a simulation
  all,       // also transfers that take the time of a closed form
};

// Only transfers whose ranks are all in one node, network or machine are counted.
enum class Within { node, network, machine };

struct BothWays {
  double out = 0;
  double in = 0;
};

class PlanBytes {
 public:
  // Both are kept by reference.
  PlanBytes(const Plan& plan, const Cluster& cluster, CountedTransfers counted);

  // [part] bytes that must leave and enter it, over collectives, messages and all-to-alls.
  // `part_of_rank`: the part of every rank, below `parts`. `inside_node`: parts are smaller than a
  // node, whose switch can reduce and multicast between ports.
  std::vector<BothWays> across(const std::vector<int>& part_of_rank, int parts, Within within,
                               bool inside_node = false) const;

  using Ends = std::function<void(RankId from, RankId to, double bytes)>;
  void for_each_message(const Ends& visit) const;
  // [{from, to}] bytes of all-to-alls from node to node, through any of their NICs. Groups with
  // more than `most_pairs` pairs of nodes are omitted.
  using NodePair = std::pair<int, int>;
  std::map<NodePair, double> exchanged_between_nodes(double most_pairs) const;

 private:
  // Bytes that the collectives of a group must move, over all its tasks.
  struct Volume {
    // each part of a buffer goes to one member: reduce-scatter, and half of an all-reduce
    double scattered = 0;
    double gathered = 0;  // every member gets all parts
    double summed = 0;    // all-reduced by switches or trees: at least once in and once out
    // all-reduced by each node's switch, and scattered and gathered between nodes
    double by_nvswitch = 0;
    double by_hosts = 0;   // summed by the hosts' CPUs: no traffic between GPUs of a node
    double exchanged = 0;  // all-to-all, per member
    double shifted = 0;    // to the next member
    // Uneven all-to-alls, by exchange of the Plan and direction.
    std::map<std::pair<std::int16_t, bool>, double> uneven = {};
  };

  static void add(const Task& task, Volume& volume);
  static double least_bytes(const Volume& volume, double inside, double members, bool inside_node);
  bool lies_within(const Group& group, Within within) const;
  bool pair_within(RankId from, RankId to, Within within) const;
  void count_volumes(CountedTransfers counted);
  std::vector<double> matrix(std::size_t group, std::pair<std::int16_t, bool> which,
                             double bytes) const;

  const Plan& plan_;
  const Cluster& cluster_;
  std::vector<Volume> of_group_;  // all members of a group have the same collectives
};

}  // namespace windtunnel
