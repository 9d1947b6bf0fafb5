// Which ranks hold the same parameters, and how they lie on the machine. The ranks of a stage are
// consecutive, so every family of groups is strided (lane, stride, count), which makes the worst
// shape of thousands of groups cheap.
//
// Which ranks share dense parameters, experts, shards (FSDP's HYBRID_SHARD, Zhao et al. 2023, arXiv
// 2304.11277, section 3.2.2) and the parts of a shard is told in docs/physics/gradients.md, "Which
// ranks".
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
  dense_shard,      // consecutive ranks among which a copy of the dense parameters is divided
  dense_across,     // ranks with equal shards of them; without sharding all replicas
  expert_shard,     // the same for the experts
  expert_across,    // the same
  node_part,        // of the group that reduces dense gradients first: its members in one node
  node_peers,       // and those of equal place in their nodes
  weight_part,      // of a shard: ranks that together hold a copy of the weights
  weight_peers,     // and those of equal place in their parts
  gradient_part,    // the same for the gradients
  gradient_peers,   // the same
  secondary_part,   // the same for the second copy of the weights
  island_peers,     // ranks of equal place in the islands of a region (Layout::sync_groups)
  region_peers,     // the same in the regions
  path_near,        // of island_peers those with the same module of the first block of layers
  path_far,         // and of the second block (Layout::path_modules)
  dense_replicas,   // dense_shard times dense_across: all of an island with the same parameters
  expert_replicas,  // the same for the experts
};
inline constexpr int kReplicaAxes = 17;
inline bool is_of_experts(ReplicaAxis axis) {
  return axis == ReplicaAxis::expert_shard || axis == ReplicaAxis::expert_across ||
         axis == ReplicaAxis::expert_replicas;
}

// Members first + block * stride * count + lane + i * stride, i < count: one group per block and
// lane < lanes.
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

// The groups of the ranks of one stage. Only parts and peers need the GPUs of a node, or of a site
// in its place.
StridedGroups replica_groups(const Layout& layout, ReplicaAxis axis, int gpus_per_node = 1);
// GPUs of the places that node_part and node_peers tell apart: nodes; sites, where the fabric has
// such of equal size and gradients are compressed across them only. Where ranks are out
// of order it is the number of consecutive ones that always stand in one place.
int gpus_per_place(const Job& job);
// Whether a job compresses its gradients across places, or across copies of their shards, only.
bool compresses_across(const Job& job);
// Shards have copies (layout.shard_ranks).
bool has_shard_copies(const Layout& layout);
// Whether what a job exchanges of gradients is no sum that can be scattered over shards, or of
// whole matrices: a compressor's, or a robust rule's.
bool is_unscattered(const Job& job);

// Each rank of a stage on pipeline rank `low` with its equal on `high`; they start where `low`
// does.
StridedGroups stage_pairs(const Layout& layout, int low, int high);

// The whole copies of a stage's state, dense parameters and experts: `count` of them, each on
// `stride` consecutive ranks. One alone: what is lost with a rank, no other rank holds.
StridedGroups state_copies(const Layout& layout);

// The worst shapes (WorstShape) of groups of a machine when all of a kind run at once. Groups of
// other stages that lie on the machine alike are measured once.
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

// The shape of one group of all GPUs that wait for a common norm of the gradients. It exchanges a
// few bytes, so uplinks are not considered. With several islands: the GPUs of the first.
GroupShape world_shape(const Layout& layout, const LinkTable& links);
// [island] Its ranks, ascending.
std::vector<std::vector<std::int32_t>> island_ranks(const Layout& layout);

// The way of the messages from the ranks of one stage to those of another: where some cross nodes
// and some do not, the longer one.
struct MessageWay {
  bool in_node = true;
  bool in_package = true;
  int hops = 0;
  double extra_latency_s = 0;  // of a cable between sites
  double nic_factor = 1;       // of the slowest NIC at either end
  int pool = -1;               // the pool of all ends; -1: of several pools, or all nodes are alike
  bool apart = false;          // some take the common network
  int at_one_port = 1;         // ranks that leave their node by one NIC at a time
  bool operator==(const MessageWay&) const = default;
};
MessageWay message_way(const Layout& layout, const LinkTable& links, int from_pp, int to_pp);

}  // namespace windtunnel
