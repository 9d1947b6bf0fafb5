// Which ranks hold the same parameters, and how they lie on the machine. The ranks of a stage are
// consecutive, so every family of groups is strided: lane, stride, count. That makes the worst
// shape of thousands of groups cheap.
//
// Dense parameters are the same on all cp x dp ranks of equal tp; experts (one ep group is ep
// consecutive ranks) on the tp x cp x dp / ep ranks of equal place in their ep group. Sharding
// divides a copy over `shard` consecutive ones of them; `across` joins the ranks that hold equal
// shards (FSDP's HYBRID_SHARD, Zhao et al. 2023, arXiv 2304.11277, section 3.2.2; without sharding
// a shard is the whole and `across` all replicas).
//
// The dense group is the one that reduces dense gradients first: the shard, without sharding all
// replicas. Where it lies regularly on nodes it falls into `node_part`, its members in one node,
// and `node_peers`, those of equal place in their nodes; elsewhere each part is one rank and the
// peers are the whole group. A shard likewise falls into parts that share a copy of the weights, of
// the gradients or a second copy of the weights (Layout), and their peers.
#pragma once

#include <vector>

#include "models/machine/cluster.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

enum class ReplicaAxis {
  dense_shard,
  dense_across,
  expert_shard,
  expert_across,
  node_part,
  node_peers,
  weight_part,
  weight_peers,
  gradient_part,
  gradient_peers,
  secondary_part,
};
inline constexpr int kReplicaAxes = 11;

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

// Of the ranks of one stage. Only parts and peers ask for the node.
StridedGroups replica_groups(const Layout& layout, ReplicaAxis axis, int gpus_per_node = 1);

// The worst shape (WorstShape) of the groups, the first of whose members is GPU `first`, when
// all of them run at once.
GroupShape strided_shape(const StridedGroups& groups, int first, const Cluster& cluster);

// Of all GPUs in one group, for a few bytes: uplinks are not looked at.
GroupShape world_shape(const Cluster& cluster);

// The way of the messages from the ranks of one stage to those of another: where some cross nodes
// and some do not, the longer one.
struct MessageWay {
  bool in_node = true;
  bool in_package = true;
  int hops = 0;
  double extra_latency_s = 0;  // of a cable between sites
};
MessageWay message_way(const Layout& layout, const Cluster& cluster, int from_pp, int to_pp);

}  // namespace windtunnel
