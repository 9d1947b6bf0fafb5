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
  as_flows,  // only transfers that share links in a simulation
  all,       // also transfers to which a simulation gives the time of a closed form
};

// Only transfers whose ranks are all in one node, network or machine are counted.
enum class Within { node, network, machine };

struct BothWays {
  double out = 0;
  double in = 0;
};

class PlanBytes {
 public:
  // Keeps references to the Plan and the cluster.
  PlanBytes(const Plan& plan, const Cluster& cluster, CountedTransfers counted);

  // Returns the bytes that must leave and enter each part of the cluster, in collectives, messages
  // and all-to-alls. `part_of_rank`: the part of every rank, below `parts`. `inside_node`: parts
  // are smaller than a node, so the node's switch can reduce and multicast between them.
  std::vector<BothWays> across(const std::vector<int>& part_of_rank, int parts, Within within,
                               bool inside_node = false) const;

  using Ends = std::function<void(RankId from, RankId to, double bytes)>;
  void for_each_message(const Ends& visit) const;
  // Returns the bytes that all-to-alls send from one node to another, by {from, to}. Groups with
  // more than `most_pairs` pairs of nodes are omitted.
  using NodePair = std::pair<int, int>;
  std::map<NodePair, double> exchanged_between_nodes(double most_pairs) const;

 private:
  // Bytes that the collectives of a group must move, over all its tasks.
  struct Volume {
    // of buffers that are divided among the members: reduce-scatter, and half of an all-reduce
    double scattered = 0;
    double gathered = 0;  // all-gather, and the other half of an all-reduce
    double summed = 0;    // all-reduced by switches or trees: once into and out of each GPU
    // all-reduced by each node's switch; between nodes scattered and gathered
    double by_nvswitch = 0;
    double by_hosts = 0;   // all-reduced by the hosts' CPUs: no traffic between GPUs of a node
    double exchanged = 0;  // all-to-all, from each member
    double shifted = 0;    // send-recv, from each member to the next one
    // Bytes of uneven all-to-alls, by index of the exchange in the Plan and whether it returns.
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
