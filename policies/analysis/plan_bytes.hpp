// What the transfers of a Plan must move, whatever their routes and algorithms: messages and
// all-to-alls from end to end, and of collectives what has to enter and leave any set of ranks.
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
  as_flows,  // those that share links in a simulation
  all,       // also those that take the time of a closed form
};

// Transfers whose ranks all lie within one of these.
enum class Within { node, network, machine };

struct BothWays {
  double out = 0;
  double in = 0;
};

class PlanBytes {
 public:
  // Both are kept by reference.
  PlanBytes(const Plan& plan, const Cluster& cluster, CountedTransfers counted);

  // [part] what has to leave and enter it, of collectives, messages and all-to-alls together.
  // `part_of_rank`: one of `parts` for every rank. `inside_node`: parts are smaller than
  // a node, whose switch adds and copies on the way from port to port.
  std::vector<BothWays> across(const std::vector<int>& part_of_rank, int parts, Within within,
                               bool inside_node = false) const;

  using Ends = std::function<void(RankId from, RankId to, double bytes)>;
  void for_each_message(const Ends& visit) const;
  // [{from, to}] bytes of all-to-alls from node to node, at whose NICs they may start and end
  // anywhere. Groups of more than `most_pairs` pairs of nodes are left out.
  using NodePair = std::pair<int, int>;
  std::map<NodePair, double> exchanged_between_nodes(double most_pairs) const;

 private:
  // Bytes of the collectives of a group, all its tasks together, by what they must move.
  struct Volume {
    double scattered = 0;    // every part of a buffer comes to one member: reduce-scatter, and half
                             // of an all-reduce
    double gathered = 0;     // every member gets all parts
    double summed = 0;       // all-reduced by switches or trees: in and out once at least
    double by_nvswitch = 0;  // all-reduced by the switch of each node, and scattered and gathered
                             // between nodes
    double by_hosts = 0;     // summed by the hosts' processors: between GPUs of a node nothing goes
    double exchanged = 0;    // all-to-all, of one member
    double shifted = 0;      // to the next member
    // Of all-to-alls that are not even: by exchange of the Plan and direction.
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
