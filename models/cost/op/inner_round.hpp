// Communication between the ranks of a replica inside a pass over a layer: collectives of tensor,
// context and expert parallelism, and the compute that overlaps them. The closed form computes
// their exposed time; a Plan has each as a separate task (policies/lowering/action_steps.hpp). Both
// use the same rounds, so they agree on an idle network.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/origin.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/plan/task_cost.hpp"

namespace windtunnel {

// Tells for which axis ranks of a replica form a group (models/network/groups/parallel_groups.hpp).
enum class InnerGroup : std::uint8_t {
  tensor,
  mesh_row,     // row of tp's 2D mesh
  mesh_column,  // column of that mesh
  context_ring,
  context_exchange,
  expert,
};
inline constexpr int kInnerGroups = 6;
Category axis_of(InnerGroup group);  // tp, cp or ep

// How much the members of an all-to-all receive.
enum class ExchangeWay : std::uint8_t {
  even,  // all the same
  there,
  back,  // each returns what it received
};

struct InnerCollective {
  InnerGroup group = InnerGroup::tensor;
  CollectiveKind kind = CollectiveKind::all_reduce;
  CollectiveChoice choice = {};  // the algorithm that runs
  double bytes = 0;              // in the convention of collective_cost()
  // Closed-form time while all groups of its kind run concurrently: total, and its part on the
  // busiest link.
  double seconds = 0;
  double transfer_s = 0;
  Origin origin = Origin::assumed;
  // Time of the kernels that pack and unpack its data; they count as compute of its pass.
  double kernels_s = 0;
  Origin kernels_origin = Origin::assumed;
  bool in_node = true;  // all its groups are inside nodes
  // If experts receive unequal amounts (expert_exchanges()): `bytes` is the mean that a rank sends,
  // and `seconds` is the busiest rank's time.
  ExchangeWay way = ExchangeWay::even;
  int exchange = 0;  // index into expert_exchanges()
};

// The compute that overlaps the collectives of a round.
enum class BesideCompute : std::uint8_t {
  pass,     // kernels of the same pass
  weights,  // weight gradients that follow an input gradient
};

// Consecutive collectives, and compute that does not depend on them. Whatever follows waits for
// both.
struct InnerRound {
  Category category = Category::tp;
  Origin origin = Origin::assumed;
  std::vector<InnerCollective> collectives = {};
  double beside_s = 0;
  BesideCompute beside = BesideCompute::pass;
  double slowdown = 0;  // share by which kernels are slower while a collective overlaps them
  // The overlapping compute belongs to the next layer; after a chunk's last layer there is none.
  bool into_next_layer = false;
};

double collectives_s(const std::vector<InnerCollective>& collectives);
double collectives_s(const InnerRound& round);
// The part of the collectives' time that overlaps the compute.
double covered_s(const InnerRound& round);
// Returns the time by which the collectives lengthen the overlapping compute.
double slowed_s(const InnerRound& round);
// Time that the round adds to the compute of its pass.
double exposed_s(const InnerRound& round);

// The same collectives with this share of their bytes and time.
std::vector<InnerCollective> shares_of(std::vector<InnerCollective> collectives, double share);

// The rounds of a layer, in order.
struct PassRounds {
  std::vector<InnerRound> forward;
  std::vector<InnerRound> backward_input;
  std::vector<InnerRound> backward_weight;
  std::vector<InnerRound> recompute;
};

}  // namespace windtunnel
