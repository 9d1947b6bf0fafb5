#include "models/network/groups/collective_steps.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

int ceil_log2(int n) {
  return std::bit_width(static_cast<unsigned>(n - 1));
}

int floor_log2(int n) {
  return std::bit_width(static_cast<unsigned>(n)) - 1;
}

bool is_power_of_two(int n) {
  return std::has_single_bit(static_cast<unsigned>(n));
}

// Extra steps if n is no power of two: before the others, one node of each pair sends its data to
// its partner; after them it gets the result.
int folds(int n) {
  return is_power_of_two(n) ? 0 : 2;
}

// A collective, and the numbers from which its bytes are counted.
struct Call {
  CollectiveKind kind;
  const GroupShape& shape;
  double bytes;  // the size S of collective_cost()
  int g = shape.members_per_node;
  int nodes = shape.nodes;
  double n = shape.members;
  // How often a rank's data crosses its group: in reduce-scatter once, in all-reduce twice.
  int passes = kind == CollectiveKind::all_reduce ? 2 : 1;
  double per_lane = bytes / g;
  double of_node = static_cast<double>(g - 1) / g;  // share that a member sends in its node
  double of_fabric = static_cast<double>(nodes - 1) / nodes;  // share that a node sends to others
};

using MakeSteps = CollectiveSteps (*)(const Call&);

CollectiveSteps with(Pattern node, double node_bytes, int node_steps, Pattern across,
                     double across_bytes, int across_steps) {
  return {node, node_bytes, node_steps, across, across_bytes, across_steps};
}

CollectiveSteps ring(const Call& c) {
  const double payload = c.passes * (c.n - 1) / c.n * c.bytes;
  const int across = c.passes * (c.nodes - 1);
  return with(Pattern::ring, payload, c.passes * (c.shape.members - 1) - across, Pattern::ring,
              payload / c.g, across);
}

CollectiveSteps tree(const Call& c) {
  return with(Pattern::ring, 2 * c.of_node * c.bytes, 2 * (c.g - 1), Pattern::double_tree,
              c.per_lane, 2 * ceil_log2(c.nodes));
}

CollectiveSteps hierarchical(const Call& c) {
  return with(Pattern::ring, c.passes * c.of_node * c.bytes, c.passes, Pattern::ring,
              c.passes * c.of_fabric * c.per_lane, c.passes * (c.nodes - 1));
}

CollectiveSteps recursive_doubling(const Call& c) {
  CollectiveSteps steps = with(Pattern::doubling, c.bytes, floor_log2(c.g) + folds(c.g),
                               Pattern::doubling, c.bytes, floor_log2(c.nodes) + folds(c.nodes));
  steps.pipelined = false;
  return steps;
}

CollectiveSteps halving_doubling(const Call& c) {
  CollectiveSteps steps = with(
      Pattern::halving, c.passes * c.bytes, c.passes * floor_log2(c.g) + folds(c.g),
      Pattern::halving, c.passes * c.per_lane, c.passes * floor_log2(c.nodes) + folds(c.nodes));
  steps.pipelined = false;
  return steps;
}

// The switch reads every member's copy of all shards and returns their sums; a member's shard, once
// stored, is multicast to all. A port therefore carries S in one direction and S/g in the other,
// and in all-reduce their sum in each direction.
double through_nvswitch(const Call& c) {
  return c.kind == CollectiveKind::all_reduce ? c.bytes + c.per_lane : c.bytes;
}

CollectiveSteps nvls(const Call& c) {
  return with(Pattern::ring, through_nvswitch(c), c.passes, Pattern::ring,
              c.passes * c.of_fabric * c.per_lane, c.passes * (c.nodes - 1));
}

CollectiveSteps nvls_tree(const Call& c) {
  return with(Pattern::ring, through_nvswitch(c), 2, Pattern::double_tree, c.per_lane,
              2 * ceil_log2(c.nodes));
}

// On the way up the tree of switches and down again, every NIC and every switch sends and receives
// its lane's bytes once: each link carries the same as an edge of a ring. It is one step: the
// switches to the root and back are counted as hops.
CollectiveSteps collnet_direct(const Call& c) {
  return with(Pattern::ring, 2 * c.of_node * c.bytes, 2, Pattern::ring, c.per_lane, 1);
}

CollectiveSteps collnet_chain(const Call& c) {
  return with(Pattern::ring, 2 * c.of_node * c.bytes, 2 * (c.g - 1), Pattern::ring, c.per_lane, 1);
}

CollectiveSteps pat(const Call& c) {
  return with(Pattern::none, 0, 0, Pattern::shifts, c.bytes, ceil_log2(c.nodes));
}

// Traffic of the host's memory: the g copies are written, and read again to be summed into one; an
// inner node of a tree sends and receives (2 S each) and adds (S); each of two sockets reads the
// result once: 24 S for 8 GPUs.
CollectiveSteps hfreduce(const Call& c) {
  CollectiveSteps steps =
      with(Pattern::none, 0, 2, Pattern::double_tree, c.per_lane, 2 * ceil_log2(c.nodes));
  steps.copied_bytes = c.bytes;
  steps.host_bytes = (2 * c.g + 1 + (c.nodes > 1 ? 5 : 0) + 2) * c.bytes;
  return steps;
}

CollectiveSteps torus(const Call& c) {
  return with(Pattern::ring, c.passes * c.of_node * c.bytes, c.passes, Pattern::torus,
              c.passes * c.of_fabric * c.per_lane, c.passes * c.shape.torus_steps);
}

CollectiveSteps chain(const Call& c) {
  const Pattern pattern = c.kind == CollectiveKind::reduce ? Pattern::back_chain : Pattern::chain;
  return with(pattern, c.bytes, c.shape.members - c.nodes, pattern, c.per_lane, c.nodes - 1);
}

// Data goes first inside the node to the receiver's rail, then along that rail. Bytes are those of
// the node with the fewest members, each of which sends most to other nodes.
CollectiveSteps pairs(const Call& c, int node_steps, int across_steps) {
  const double away = (c.n - c.g) / c.n * c.bytes;
  return with(Pattern::pairs, c.per_lane, node_steps, Pattern::pairs,
              c.nodes > 1 ? away / (c.nodes - 1) : 0, across_steps);
}

CollectiveSteps pairwise(const Call& c) {
  return pairs(c, c.g - 1, c.nodes - 1);
}

CollectiveSteps all_at_once(const Call& c) {
  return pairs(c, c.g > 1 ? 1 : 0, c.nodes > 1 ? 1 : 0);
}

// Like pairs(), but in two sequential phases: all data for a rail is on it before it leaves the
// node (2D all-to-all of Tutel: Hwang et al., arXiv 2206.03382; forwarding of Rail-only: Wang et
// al., arXiv 2307.12169).
CollectiveSteps in_two_phases(const Call& c) {
  CollectiveSteps steps = pairwise(c);
  steps.pipelined = false;
  return steps;
}

// Data goes to the first member's rail inside the node, then along that rail.
CollectiveSteps gather(const Call& c) {
  const double share = c.bytes / c.n;
  CollectiveSteps steps =
      with(Pattern::to_first, share, c.g > 1 ? 1 : 0, Pattern::to_first,
           c.nodes > 1 ? (c.n - c.g) * share / (c.nodes - 1) : 0, c.nodes > 1 ? 1 : 0);
  steps.one_lane = true;
  return steps;
}

// Data of a node's last member changes rails inside its node.
CollectiveSteps shift(const Call& c) {
  CollectiveSteps steps =
      with(Pattern::ring, c.bytes, c.g > 1 ? 1 : 0, Pattern::ring, c.bytes, c.nodes > 1 ? 1 : 0);
  steps.one_lane = true;
  return steps;
}

// What an algorithm requires of the group and its nodes.
enum Need : unsigned {
  regular = 1,  // equally many members on every node
  several_nodes = 2,
  several_a_node = 4,
  one_a_node = 8,
  even_node = 16,      // a power of two of members on a node, unless there is just one node
  powers_of_two = 32,  // numbers of members on a node and of nodes
  nvlink_switch = 64,
  infiniband = 128,
  box = 256,
};

struct NeedText {
  unsigned need;
  const char* text;
};

constexpr NeedText kNeeds[] = {
    {regular, "the same number of members on every node"},
    {several_nodes, "several nodes"},
    {several_a_node, "several members on every node"},
    {one_a_node, "one member on every node"},
    {even_node, "a power of two of members on every node"},
    {powers_of_two, "powers of two both of nodes and of members on a node"},
    {nvlink_switch, "GPUs behind an NVSwitch"},
    {infiniband, "switches that sum (SHARP), on a fabric with transport infiniband"},
    {box, "nodes that fill a box of a torus"},
};

struct Row {
  CollectiveKind kind;
  CollectiveAlgorithm algorithm;
  unsigned needs;
  MakeSteps steps;
};

using K = CollectiveKind;
using A = CollectiveAlgorithm;

// For each kind, the row that runs when another does not apply comes first.
constexpr Row kRows[] = {
    {K::all_reduce, A::ring, 0, ring},
    {K::all_reduce, A::tree, regular, tree},
    {K::all_reduce, A::hierarchical, regular | several_nodes | several_a_node, hierarchical},
    {K::all_reduce, A::recursive_doubling, regular | even_node, recursive_doubling},
    {K::all_reduce, A::halving_doubling, regular | even_node, halving_doubling},
    {K::all_reduce, A::nvls, regular | several_a_node | nvlink_switch, nvls},
    {K::all_reduce, A::nvls_tree, regular | several_a_node | nvlink_switch, nvls_tree},
    {K::all_reduce, A::collnet_direct, regular | several_nodes | infiniband, collnet_direct},
    {K::all_reduce, A::collnet_chain, regular | several_nodes | infiniband, collnet_chain},
    {K::all_reduce, A::hfreduce, regular, hfreduce},
    {K::all_reduce, A::torus, regular | box, torus},
    {K::reduce_scatter, A::ring, 0, ring},
    {K::reduce_scatter, A::hierarchical, regular | several_nodes | several_a_node, hierarchical},
    {K::reduce_scatter, A::halving_doubling, regular | powers_of_two, halving_doubling},
    {K::reduce_scatter, A::nvls, regular | several_a_node | nvlink_switch, nvls},
    {K::reduce_scatter, A::pat, one_a_node, pat},
    {K::reduce_scatter, A::torus, regular | box, torus},
    {K::all_gather, A::ring, 0, ring},
    {K::all_gather, A::hierarchical, regular | several_nodes | several_a_node, hierarchical},
    {K::all_gather, A::halving_doubling, regular | powers_of_two, halving_doubling},
    {K::all_gather, A::nvls, regular | several_a_node | nvlink_switch, nvls},
    {K::all_gather, A::pat, one_a_node, pat},
    {K::all_gather, A::torus, regular | box, torus},
    {K::broadcast, A::ring, 0, chain},
    {K::reduce, A::ring, 0, chain},
    {K::all_to_all, A::pairwise, 0, pairwise},
    {K::all_to_all, A::direct, 0, all_at_once},
    {K::all_to_all, A::one_sided, 0, all_at_once},
    {K::all_to_all, A::hierarchical, regular | several_nodes | several_a_node, in_two_phases},
    {K::gather, A::direct, 0, gather},
    {K::send_recv, A::direct, 0, shift},
};

constexpr int kKinds = static_cast<int>(K::send_recv) + 1;

// [kind][algorithm] -> row, -1: none.
constexpr auto kRowOf = [] {
  std::array<std::array<int, kCollectiveAlgorithms>, kKinds> rows{};
  for (auto& row : rows) row.fill(-1);
  for (size_t i = 0; i < std::size(kRows); ++i) {
    rows[static_cast<int>(kRows[i].kind)][static_cast<int>(kRows[i].algorithm)] =
        static_cast<int>(i);
  }
  return rows;
}();

const Row* row_of(CollectiveKind kind, CollectiveAlgorithm algorithm) {
  const int row = kRowOf[static_cast<int>(kind)][static_cast<int>(algorithm)];
  return row < 0 ? nullptr : &kRows[row];
}

bool is_infiniband(const FabricSpec& fabric) {
  if (fabric.topology != Topology::sites) return fabric.transport == Transport::infiniband;
  return std::ranges::all_of(
      fabric.sites, [](const SiteSpec& site) { return site.transport == Transport::infiniband; });
}

unsigned offered(const GroupShape& shape, const Cluster& cluster) {
  const bool even = is_power_of_two(shape.members_per_node);
  unsigned has = 0;
  if (shape.regular()) has |= regular;
  if (shape.nodes > 1) has |= several_nodes;
  if (shape.members_per_node > 1) has |= several_a_node;
  if (shape.members == shape.nodes) has |= one_a_node;
  if (even || shape.nodes == 1) has |= even_node;
  if (even && is_power_of_two(shape.nodes)) has |= powers_of_two;
  if (cluster.node.gpu_path == GpuPath::nvlink) has |= nvlink_switch;
  if (is_infiniband(cluster.fabric)) has |= infiniband;
  if (shape.torus_steps > 0) has |= box;
  return has;
}

}  // namespace

CollectiveSteps steps_of(CollectiveKind kind, CollectiveAlgorithm algorithm,
                         const GroupShape& shape, double bytes) {
  const Row* row = row_of(kind, algorithm);
  CHECK(row != nullptr, "{} by {}", to_string(kind), to_string(algorithm));
  CollectiveSteps steps = row->steps({kind, shape, bytes});
  if (shape.members == shape.nodes) steps.node = Pattern::none;
  if (shape.nodes == 1) steps.across = Pattern::none;
  if (steps.node == Pattern::none) steps.node_bytes = 0;
  if (steps.across == Pattern::none) steps.across_bytes = 0;
  return steps;
}

Pattern inside_node(Pattern pattern, int node) {
  const bool chain = pattern == Pattern::chain || pattern == Pattern::back_chain;
  return chain && node > 0 ? Pattern::ring : pattern;
}

const char* why_not(CollectiveKind kind, CollectiveAlgorithm algorithm, const GroupShape& shape,
                    const Cluster& cluster) {
  const Row* row = row_of(kind, algorithm);
  if (row == nullptr) return "another kind of collective";
  const unsigned missing = row->needs & ~offered(shape, cluster);
  if (missing == 0) return nullptr;
  for (const NeedText& need : kNeeds) {
    if ((missing & need.need) != 0) return need.text;
  }
  return "";
}

std::vector<CollectiveAlgorithm> algorithms_of(CollectiveKind kind) {
  std::vector<CollectiveAlgorithm> algorithms;
  for (const Row& row : kRows) {
    if (row.kind == kind) algorithms.push_back(row.algorithm);
  }
  return algorithms;
}

CollectiveAlgorithm usual_algorithm(CollectiveKind kind) {
  if (kind == K::all_to_all) return A::pairwise;
  return kind == K::gather || kind == K::send_recv ? A::direct : A::ring;
}

void require_algorithm(CollectiveKind kind, CollectiveAlgorithm algorithm, const GroupShape& shape,
                       const Cluster& cluster) {
  const char* missing = why_not(kind, algorithm, shape, cluster);
  if (missing == nullptr) return;
  std::vector<std::string> others;
  for (const CollectiveAlgorithm other : algorithms_of(kind)) {
    if (why_not(kind, other, shape, cluster) == nullptr) others.emplace_back(to_string(other));
  }
  throw Error(fmt::format(
      "{} by {} needs {}; this group has {} members on {} node{}; possible algorithms: {}",
      to_string(kind), to_string(algorithm), missing, shape.members, shape.nodes,
      shape.nodes == 1 ? "" : "s", fmt::join(others, ", ")));
}

}  // namespace windtunnel
