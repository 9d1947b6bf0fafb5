// Which ranks hold the same parameters, and how they are placed on the machine. The ranks of a
// stage are consecutive, so every family of groups is strided (lane, stride, count). The worst
// shape of thousands of such groups is found quickly.
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
  dense_across,    // ranks with the same dense shard; without sharding all replicas
  expert_shard,    // consecutive ranks that share one copy of the experts
  expert_across,   // ranks with the same shard of the experts
  node_part,       // members in one node of the group that reduces dense gradients first
  node_peers,      // members of that group with the same position in their nodes
  weight_part,     // part of a shard group that together holds a copy of the weights
  weight_peers,    // ranks with the same position in these parts
  gradient_part,   // part of a shard group that together holds a copy of the gradients
  gradient_peers,  // ranks with the same position in these parts
  secondary_part,  // part of a shard group that together holds the second copy of weights
  island_peers,    // ranks with the same position in the islands of a region (Layout::sync_groups)
  region_peers,    // ranks with the same position in the regions
  path_near,       // island_peers with the same module of the first block of layers
  path_far,        // island_peers with the same module of the second block (Layout::path_modules)
  // dense_shard times dense_across: all ranks of an island with the same dense parameters
  dense_replicas,
  expert_replicas,  // expert_shard times expert_across
};
inline constexpr int kReplicaAxes = 17;
inline bool is_of_experts(ReplicaAxis axis) {
  return axis == ReplicaAxis::expert_shard || axis == ReplicaAxis::expert_across ||
         axis == ReplicaAxis::expert_replicas;
}

// The members of a group are the ranks first + block * stride * count + lane + i * stride for all i
// < count. There is one group for each block and each lane < lanes.
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

// Returns the groups of one stage's ranks. Only axes named *_part and *_peers depend on the number
// of GPUs in a node or a site.
StridedGroups replica_groups(const Layout& layout, ReplicaAxis axis, int gpus_per_node = 1);
// Returns the number of GPUs in a place, the unit of node_part and node_peers: a node; or a site,
// if the fabric has sites of equal size and gradients are compressed only between them. If ranks
// are out of order, it is the number of consecutive ranks that are always in one place.
int gpus_per_place(const Job& job);
// Whether gradients are compressed only between places, or only between the copies of shards.
bool compresses_across(const Job& job);
// Whether shards have copies (layout.shard_ranks).
bool has_shard_copies(const Layout& layout);
// Whether a compressor or a robust rule exchanges something that cannot be scattered over shards:
// no sum, or whole matrices.
bool is_unscattered(const Job& job);

// Returns the groups of each rank of pipeline rank `low` with its counterpart on `high`. Ranks of
// `low` are the first members.
StridedGroups stage_pairs(const Layout& layout, int low, int high);

// Returns the complete copies of a stage's state, experts included: `count`, each on `stride`
// consecutive ranks. If count is 1, what is lost with a rank exists nowhere else.
StridedGroups state_copies(const Layout& layout);

// The worst shapes (WorstShape) of groups on a machine when all groups of an axis communicate at
// once. Groups of other stages with the same placement are computed once.
class StridedShapes {
 public:
  explicit StridedShapes(LinkTable links) : links_(std::move(links)) {}

  // Returns the worst shape among the groups. The first member of the first group is GPU `first`.
  GroupShape worst(const StridedGroups& groups, int first);

 private:
  GroupShape sharing_cables(const StridedGroups& groups, int first, GroupShape shape) const;
  GroupShape worst_of_regular(const StridedGroups& groups, int first);
  GroupShape one_gpu_per_node(int node, int nodes, int node_step);

  LinkTable links_;
  std::map<std::tuple<int, int, int>, GroupShape> known_;  // place in a pod, nodes, step
};

// Returns the shape of the group of all GPUs that wait for a common gradient norm (with several
// islands, the GPUs of the first). It exchanges few bytes, so uplinks are ignored.
GroupShape world_shape(const Layout& layout, const LinkTable& links);
// Returns the ranks of each island, ascending.
std::vector<std::vector<std::int32_t>> island_ranks(const Layout& layout);

// The path of messages from the ranks of one stage to those of another. If only some of the
// messages cross nodes, it is the path of these.
struct MessageWay {
  bool in_node = true;
  bool in_package = true;
  int hops = 0;
  double extra_latency_s = 0;  // of a cable between sites
  double nic_factor = 1;       // of the slowest NIC at either end
  int pool = -1;               // pool of both ends; -1: several pools, or all nodes are alike
  bool apart = false;          // some messages take the common network
  int at_one_port = 1;  // number of ranks that send through one NIC of their node concurrently
  bool operator==(const MessageWay&) const = default;
};
MessageWay message_way(const Layout& layout, const LinkTable& links, int from_pp, int to_pp);

}  // namespace windtunnel
