// What the ranks of one replica send each other inside a pass over a layer: collectives of tensor,
// context and expert parallelism, and the compute beside which they run. A closed form counts what
// of them stays exposed; a Plan has each as a task of its own
// (policies/lowering/action_steps.hpp). Both read the same rounds, so that they agree where the
// network is idle.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/origin.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/plan/task_cost.hpp"

namespace windtunnel {

// Between which ranks of a replica (models/network/groups/parallel_groups.hpp).
enum class InnerGroup : std::uint8_t {
  tensor,
  mesh_row,     // of a 2D mesh of tp
  mesh_column,  // likewise
  context_ring,
  context_exchange,
  expert,
};
inline constexpr int kInnerGroups = 6;
Category axis_of(InnerGroup group);  // tp, cp or ep

// What the members of an all-to-all get.
enum class ExchangeWay : std::uint8_t {
  even,  // all as much
  there,
  back,  // each returns what it got
};

struct InnerCollective {
  InnerGroup group = InnerGroup::tensor;
  CollectiveKind kind = CollectiveKind::all_reduce;
  CollectiveChoice choice = {};  // what runs
  double bytes = 0;              // as collective_cost() counts them
  // In closed form, while all groups of its kind run it: in all, and of that on the busiest link.
  double seconds = 0;
  double transfer_s = 0;
  Origin origin = Origin::assumed;
  // Of the kernels that pack what it carries and unpack it: compute of its pass.
  double kernels_s = 0;
  Origin kernels_origin = Origin::assumed;
  bool in_node = true;  // of all its groups
  // Where experts get unlike amounts (expert_exchanges()): `bytes` are the mean that a rank sends,
  // its seconds those of the busiest.
  ExchangeWay way = ExchangeWay::even;
  int exchange = 0;  // which of expert_exchanges()
};

// Whose kernels run beside the collectives of a round.
enum class BesideCompute : std::uint8_t {
  pass,     // of the same pass
  weights,  // of the weight gradients behind an input gradient
};

// Collectives one after another, and compute that does not wait for them. What follows waits for
// both.
struct InnerRound {
  Category category = Category::tp;
  Origin origin = Origin::assumed;
  std::vector<InnerCollective> collectives = {};
  double beside_s = 0;
  BesideCompute beside = BesideCompute::pass;
  double slowdown = 0;  // kernels take this share longer while a collective runs beside them
  // The compute beside it is of the layer that follows: behind a chunk's last layer there is none.
  bool into_next_layer = false;
};

// Of collectives one after another.
double collectives_s(const std::vector<InnerCollective>& collectives);
// Of the round's collectives together.
double collectives_s(const InnerRound& round);
// Of them what runs while the compute beside them does.
double covered_s(const InnerRound& round);
// By how much they lengthen that compute.
double slowed_s(const InnerRound& round);
// What the round adds to the compute of its pass.
double exposed_s(const InnerRound& round);

// A share of each collective: of its bytes and of its time.
std::vector<InnerCollective> shares_of(std::vector<InnerCollective> collectives, double share);

// Of a layer, in the order in which they run.
struct PassRounds {
  std::vector<InnerRound> forward;
  std::vector<InnerRound> backward_input;
  std::vector<InnerRound> backward_weight;
  std::vector<InnerRound> recompute;
};

}  // namespace windtunnel
