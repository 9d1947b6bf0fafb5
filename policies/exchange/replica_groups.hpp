// Which ranks hold the same parameters, and how they are placed on the machine. The ranks of a
// stage are consecutive, so every family of groups is strided (lane, stride, count), which makes
// the worst shape of thousands of groups cheap.
//
// Which ranks share dense parameters, experts, shards (FSDP's HYBRID_SHARD, Zhao et al. 2023, arXiv
// 2304.11277, section 3.2.2) and parts of a shard: docs/physics/gradients.md, "Which ranks".
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/plan/job.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

enum class ReplicaAxis {
  dense_shard,     // consecutive ranks that share one copy of the dense parameters
  dense_across,    // ranks with the same shard of them; without sharding all replicas
  expert_shard,    // consecutive ranks that share one copy of the experts
  expert_across,   // ranks with the same shard of them
  node_part,       // of the first group that reduces dense gradients: its members in one node
  node_peers,      // members of that group with the same position in their nodes
  weight_part,     // part of a shard group that together holds a copy of the weights
  weight_peers,    // ranks with the same position in these parts
  gradient_part,   // part of a shard group that together holds a copy of the gradients
  gradient_peers,  // ranks with the same position in these parts
  secondary_part,  // part that together holds the second copy of the weights
  island_peers,    // ranks with the same position in the islands of a region (Layout::sync_groups)
  region_peers,    // ranks with the same position in the regions
  path_near,       // island_peers with the same module of the first block of layers
  path_far,        // with the same module of the second block (Layout::path_modules)
  // dense_shard times dense_across: all ranks of an island with the same parameters
  dense_replicas,
  expert_replicas,  // expert_shard times expert_across
};
inline constexpr int kReplicaAxes = 17;
inline bool is_of_experts(ReplicaAxis axis) {
  return axis == ReplicaAxis::expert_shard || axis == ReplicaAxis::expert_across ||
         axis == ReplicaAxis::expert_replicas;
}

// The members of a group are first + block * stride * count + lane + i * stride, i < count; there
// is one group per block and lane < lanes.
struct StridedGroups {
  int stride = 1;
  int count = 1;
  int lanes = 1;
  int blocks = 1;

  int size() const { return lanes * blocks; }
  int group_of(int member) const { return member / (stride * count) * lanes + member % stride; }
  int start_of(int group) const { return group / lanes * stride * count + group % lanes; }
  std::vector<std::int32_t> members(int first, int group) const;
  bool operator==(const StridedGroups&) const = default;
};

// The groups of one stage's ranks. Only axes named *_part and *_peers depend on the GPUs per node,
// or per site.
StridedGroups replica_groups(const Layout& layout, ReplicaAxis axis, int gpus_per_node = 1);
// Number of GPUs per place, the unit of node_part and node_peers: a node; or a site, if the fabric
// has sites of equal size and gradients are compressed only between them. If ranks are out of
// order: the number of consecutive ranks that are always in one place.
int gpus_per_place(const Job& job);
// Whether gradients are compressed only between places, or only between copies of their shards.
bool compresses_across(const Job& job);
// Whether shards have copies (layout.shard_ranks).
bool has_shard_copies(const Layout& layout);
// Whether the exchanged gradients are no sum that can be scattered over shards, or consist of whole
// matrices: by a compressor or a robust rule.
bool is_unscattered(const Job& job);

// Groups of each rank of a stage on pipeline rank `low` with its counterpart on `high`; `low` has
// the first members.
StridedGroups stage_pairs(const Layout& layout, int low, int high);

// The complete copies of a stage's state, dense parameters and experts: `count` of them, each on
// `stride` consecutive ranks. With count 1, what is lost with a rank exists nowhere else.
StridedGroups state_copies(const Layout& layout);

// The worst shapes (WorstShape) of groups on a machine when all of a kind run concurrently. Groups
// of other stages with the same placement are measured once.
class StridedShapes {
 public:
  explicit StridedShapes(LinkTable links) : links_(std::move(links)) {}

  // The worst shape among the groups; their first member is GPU `first`.
  GroupShape worst(const StridedGroups& groups, int first);

 private:
  GroupShape sharing_cables(const StridedGroups& groups, int first, GroupShape shape) const;
  GroupShape worst_of_regular(const StridedGroups& groups, int first);
  GroupShape one_gpu_per_node(int node, int nodes, int node_step);

  LinkTable links_;
  std::map<std::tuple<int, int, int>, GroupShape> known_;  // place in a pod, nodes, step
};

// The shape of the group of all GPUs that wait for a common gradient norm. It exchanges a few
// bytes, so uplinks are ignored. With several islands: the GPUs of the first.
GroupShape world_shape(const Layout& layout, const LinkTable& links);
// [island] its ranks, ascending.
std::vector<std::vector<std::int32_t>> island_ranks(const Layout& layout);

// The path of messages from the ranks of one stage to those of another; the longer one if only some
// cross nodes.
struct MessageWay {
  bool in_node = true;
  bool in_package = true;
  int hops = 0;
  double extra_latency_s = 0;  // of a cable between sites
  double nic_factor = 1;       // of the slowest NIC at either end
  int pool = -1;               // of all ends; -1: several pools, or all nodes are alike
  bool apart = false;          // some messages take the common network
  int at_one_port = 1;  // number of ranks that send through one NIC of their node concurrently
  bool operator==(const MessageWay&) const = default;
};
MessageWay message_way(const Layout& layout, const LinkTable& links, int from_pp, int to_pp);

}  // namespace windtunnel
