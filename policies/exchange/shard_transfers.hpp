// The collectives of data parallelism for some parameters of a stage: which groups of ranks gather
// weights and reduce gradients, in which order, of how many bytes, and the kernels before them.
//
// Gather: all-gather of weights over the shard group. Reduce: reduce-scatter of gradients over the
// shard group, then all-reduce of the shard across groups (replica_groups.hpp). M: bytes of the
// weights on a GPU. ZeRO-3 sends between nodes 3 M an iteration and micro-batch; what changes that:
//
//   weight_bits      gathered in fewer bits, quantised in the shard and back when they are there
//                    (ZeRO++'s qwZ, Wang et al. 2023, arXiv 2306.10209: 8 bits, M / 2; QSDP, Markov
//                    et al. 2023, arXiv 2302.02390); or 32, where weights are only cast once they
//                    are there (FSDP's MixedPrecision with param_dtype fp32): 2 M
//   gradient_bits    sums of quantised numbers would be quantised again at each step of a ring, so
//                    two all-to-alls, within nodes and then between them, quantised before each and
//                    summed behind (qgZ: 4 bits, M / 4 between nodes)
//   secondary_ranks  backward gathers from the second copy (hpZ: nothing between nodes)
//   weight_ranks, gradient_ranks  three levels (Xu et al. 2025, arXiv 2501.04266): every action
//                    gathers over weight_ranks and reduces over gradient_ranks; the last backward
//                    scatters the sums over their peers, and the first forward gathers the updated
//                    weights, at full precision, from theirs
//
// Experts lie on other ranks: theirs are gathered in fewer bits and otherwise as without.
//
// Scales are not counted: 4 bytes for 4,000 to 8,000 elements in DeepSpeed. Kernels by the bytes of
// HBM that they read and write, each hop's dequantising, sum and quantising in one, as ZeRO++ has
// it. The second copy is written by whoever dequantises.
#pragma once

#include <array>
#include <vector>

#include "models/network/collectives/collective.hpp"
#include "models/plan/job.hpp"
#include "models/plan/task_cost.hpp"
#include "policies/exchange/replica_groups.hpp"

namespace windtunnel {

// A collective, or without bytes only the kernels that end a row of them.
struct Transfer {
  ReplicaAxis axis = ReplicaAxis::dense_shard;
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;
  double seconds = 0;  // of the collective, on an idle network; without longer_s
  // On the compute stream, after the transfer before it in the row and before its collective.
  std::vector<CostPart> kernels = {};
  bool starts_row = false;  // its kernels wait for the gradients alone
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  // Longer (or shorter) than its bytes take: another one beside it takes bandwidth from it, it
  // stands for many small ones, or for one that runs every few steps.
  double longer_s = 0;
  bool second_channel = false;  // on a stream of its own beside the others
};

// Of the collectives, with longer_s; of two streams the longer.
double seconds_of(const std::vector<Transfer>& transfers);

// Parameters on one GPU, before sharding.
struct Amount {
  double dense = 0;
  double experts = 0;
};

// The groups of ranks that hold the same parameters, of all pipeline ranks.
class ReplicaNetwork {
 public:
  explicit ReplicaNetwork(const Job& job);

  // Replicas are more than one.
  bool active() const { return active_; }
  // Collectives of the job run along the axis.
  bool uses(ReplicaAxis axis) const { return uses_[int(axis)]; }
  const StridedGroups& groups(ReplicaAxis axis) const { return groups_[int(axis)]; }
  // Of an axis that is used.
  const GroupShape& shape(int pp, ReplicaAxis axis) const { return shape_[pp][int(axis)]; }
  bool same_shapes(int pp, int other) const { return shape_[pp] == shape_[other]; }
  // What the times of the pipeline rank's collectives rest on; without any, of the norm's.
  Origin origin(const Job& job, int pp) const;

 private:
  void mark_used(const Job& job);

  bool active_ = false;
  std::array<bool, kReplicaAxes> uses_{};
  std::array<StridedGroups, kReplicaAxes> groups_;
  std::vector<std::array<GroupShape, kReplicaAxes>> shape_;  // [pipeline rank]
};

// Of a stage: which of its actions gathers, or reduces. Without levels or a second copy all are
// alike.
enum class StageAction { first_forward, forward, backward, last_backward };

// Behind what `to` has already.
void append_gathers(const Job& job, const ReplicaNetwork& network, int pp, const Amount& amount,
                    std::vector<Transfer>& to, StageAction action = StageAction::forward);
void append_reductions(const Job& job, const ReplicaNetwork& network, int pp, const Amount& amount,
                       std::vector<Transfer>& to, StageAction action = StageAction::backward);

// Bytes of a parameter's gradient on the network.
double reduce_bytes_per_parameter(const Job& job);

}  // namespace windtunnel
