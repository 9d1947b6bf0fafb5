// The collectives of data parallelism for parameters of a stage: which groups of ranks gather
// weights and reduce gradients, in which order, with how many bytes, and after which kernels.
// A gather is an all-gather of weights over the shard group. A reduction is a reduce-scatter of
// gradients over the shard group, then an all-reduce of the shard across groups
// (replica_groups.hpp). Fewer bits (ZeRO++, QSDP), second copies (hpZ) and three levels change
// that: docs/physics/gradients.md, "Fewer bits, second copies, levels". Scales of quantised numbers
// are not counted.
#pragma once

#include <array>
#include <vector>

#include "models/cost/op/op_cost.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/plan/job.hpp"
#include "models/plan/job_collective.hpp"
#include "models/plan/task_cost.hpp"
#include "policies/exchange/replica_groups.hpp"

namespace windtunnel {

// A collective and the kernels before it. Without bytes: the kernels that end a sequence.
struct Transfer {
  ReplicaAxis axis = ReplicaAxis::dense_shard;
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;
  double seconds = 0;  // of the collective on an idle network, without longer_s
  // Kernels run on the compute stream, after the previous transfer of the sequence and before the
  // collective.
  std::vector<CostPart> kernels = {};
  // kernels run on the collectives' stream instead, as they do for sharding
  bool kernels_beside = false;
  bool starts_row = false;  // the kernels wait only for gradients, not for another transfer
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  // Seconds more (or, if negative, fewer) than the bytes take, because the transfer overlaps
  // another collective, or stands for many small ones or for one that runs every few steps.
  double longer_s = 0;
  bool second_channel = false;  // on a stream in parallel to that of other collectives
};

// Costs of kernels that run consecutively on the job's GPU, charged to `category`. Kernels with the
// same origin are added up to one CostPart.
std::vector<CostPart> kernel_costs(const Job& job, const std::vector<Op>& kernels,
                                   Category category);

// Returns how long the collectives take, including longer_s. The longer of two streams counts.
double seconds_of(const std::vector<Transfer>& transfers);

// Numbers of parameters on one GPU before they are sharded.
struct Amount {
  double dense = 0;
  double experts = 0;
};

// The groups of ranks that hold the same parameters, for all pipeline ranks.
class ReplicaNetwork {
 public:
  explicit ReplicaNetwork(const Job& job);
  // `links`: those of the job's cluster.
  ReplicaNetwork(const Job& job, const LinkTable& links);

  // Whether this network is valid for another job with the same layout and cluster.
  bool is_of(const Job& job) const { return traffic_of(job) == traffic_; }

  // Whether there is more than one replica.
  bool active() const { return active_; }
  // Whether collectives of the job run along the axis.
  bool uses(ReplicaAxis axis) const { return uses_[int(axis)]; }
  const StridedGroups& groups(ReplicaAxis axis) const { return groups_[int(axis)]; }
  // Returns the shape of the groups along an axis that the job uses.
  const GroupShape& shape(int pp, ReplicaAxis axis) const {
    return shapes_[of_rank_[pp]][int(axis)];
  }
  bool same_shapes(int pp, int other) const {
    return of_rank_[pp] == of_rank_[other] && ring_factor(pp) == ring_factor(other);
  }
  // Returns uneven_ring_factor() of traffic along dense_shard.
  double ring_factor(int pp) const { return ring_factors_.empty() ? 1 : ring_factors_[pp]; }
  // Returns the weakest origin of the pipeline rank's collective times. Without collectives this is
  // the origin of the gradient norm's all-reduce over all ranks (`world`).
  Origin origin(const Job& job, int pp, const GroupShape& world) const;

 private:
  // What determines, besides the layout, which axes a job uses.
  struct Traffic {
    bool experts = false;
    bool in_nodes = false;     // gradients are first reduced inside nodes
    bool unscattered = false;  // all traffic is among all replicas, even if state is sharded
    bool whole = false;        // part of the traffic is among all replicas
    int gpus_per_place = 1;
    double weight_bytes = 0;
    double gradient_bytes = 0;
    bool operator==(const Traffic&) const = default;
  };
  static Traffic traffic_of(const Job& job);
  void mark_used(const Job& job);

  Traffic traffic_;
  bool active_ = false;
  std::array<bool, kReplicaAxes> uses_{};
  std::array<StridedGroups, kReplicaAxes> groups_;
  std::vector<std::array<GroupShape, kReplicaAxes>> shapes_;  // distinct ones
  std::vector<int> of_rank_;                                  // [pipeline rank] index in shapes_
  std::vector<double> ring_factors_;                          // [pipeline rank]; empty: 1
};

// Which action of a stage gathers or reduces. The last backward pass also does what is done once
// per step: it sums copies of shards, and completes the levels.
enum class StageAction { first_forward, forward, backward, last_backward };

// Appends the gathers of these parameters to `to`.
void append_gathers(const CollectiveCosts& costs, const ReplicaNetwork& network, int pp,
                    const Amount& amount, std::vector<Transfer>& to,
                    StageAction action = StageAction::forward);
// Lengthens transfers as if each were split into one transfer per share. PyTorch does this when it
// gathers and scatters through lists of slices.
void split_transfers(const CollectiveCosts& costs, const ReplicaNetwork& network, int pp,
                     const std::vector<double>& shares, std::vector<Transfer>& transfers);

void append_reductions(const CollectiveCosts& costs, const ReplicaNetwork& network, int pp,
                       const Amount& amount, std::vector<Transfer>& to,
                       StageAction action = StageAction::last_backward);
// Whether ranks with equal shards sum their gradients after this backward pass
// (Layout::copies_summed).
bool sums_copies(const Layout& layout, StageAction action);

}  // namespace windtunnel
