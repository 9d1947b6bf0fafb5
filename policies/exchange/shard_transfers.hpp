// The collectives of data parallelism for some parameters of a stage: which groups of ranks gather
// weights and reduce gradients, in which order, of how many bytes, and the kernels before them.
//
// A gather is an all-gather of weights over the shard group; a reduction is a reduce-scatter of
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

// A collective, or without bytes only the kernels that end a row of them.
struct Transfer {
  ReplicaAxis axis = ReplicaAxis::dense_shard;
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;
  double seconds = 0;  // of the collective, on an idle network; without longer_s
  // On the compute stream, after the transfer before it in the row and before its collective.
  std::vector<CostPart> kernels = {};
  bool kernels_beside = false;  // on the stream of the collectives in its place, as sharding's
  bool starts_row = false;      // its kernels wait for the gradients alone
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  // Longer (or shorter) than its bytes take: another one beside it takes bandwidth from it, it
  // stands for many small ones, or for one that runs every few steps.
  double longer_s = 0;
  bool second_channel = false;  // on a stream of its own beside the others
};

// Costs of kernels that run on the job's GPU one after the other, charged to `category`. Kernels of
// one origin are one part.
std::vector<CostPart> kernel_costs(const Job& job, const std::vector<Op>& kernels,
                                   Category category);

// Time of the collectives, longer_s included; with two streams that of the longer.
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
  // `links`: of the job's cluster.
  ReplicaNetwork(const Job& job, const LinkTable& links);

  // Whether it would come out the same for a job of the same layout and cluster.
  bool is_of(const Job& job) const { return traffic_of(job) == traffic_; }

  // Replicas are more than one.
  bool active() const { return active_; }
  // Collectives of the job run along the axis.
  bool uses(ReplicaAxis axis) const { return uses_[int(axis)]; }
  const StridedGroups& groups(ReplicaAxis axis) const { return groups_[int(axis)]; }
  // The shape of an axis that is used.
  const GroupShape& shape(int pp, ReplicaAxis axis) const {
    return shapes_[of_rank_[pp]][int(axis)];
  }
  bool same_shapes(int pp, int other) const {
    return of_rank_[pp] == of_rank_[other] && ring_factor(pp) == ring_factor(other);
  }
  // uneven_ring_factor() of what is sent along dense_shard.
  double ring_factor(int pp) const { return ring_factors_.empty() ? 1 : ring_factors_[pp]; }
  // What the times of the pipeline rank's collectives rest on; without any, of the norm's, which is
  // over all ranks: `world`.
  Origin origin(const Job& job, int pp, const GroupShape& world) const;

 private:
  // What decides, besides the layout, which axes a job uses.
  struct Traffic {
    bool experts = false;
    bool in_nodes = false;     // reduced in nodes first
    bool unscattered = false;  // all of it goes among all replicas, whatever is sharded
    bool whole = false;        // some of it does
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
  std::vector<std::array<GroupShape, kReplicaAxes>> shapes_;  // that differ
  std::vector<int> of_rank_;                                  // [pipeline rank] in shapes_
  std::vector<double> ring_factors_;                          // [pipeline rank]; empty: 1
};

// Which action of a stage gathers or reduces. The last backward pass also does what is done once a
// step: it sums copies of shards, and ends the levels.
enum class StageAction { first_forward, forward, backward, last_backward };

// Behind what `to` has already.
void append_gathers(const CollectiveCosts& costs, const ReplicaNetwork& network, int pp,
                    const Amount& amount, std::vector<Transfer>& to,
                    StageAction action = StageAction::forward);
// Instead of each of these as one, one for each of these shares of it, through lists of slices.
void split_transfers(const CollectiveCosts& costs, const ReplicaNetwork& network, int pp,
                     const std::vector<double>& shares, std::vector<Transfer>& transfers);

void append_reductions(const CollectiveCosts& costs, const ReplicaNetwork& network, int pp,
                       const Amount& amount, std::vector<Transfer>& to,
                       StageAction action = StageAction::last_backward);
// Whether the ranks with equal shards sum them behind a backward pass of this kind
// (Layout::copies_summed).
bool sums_copies(const Layout& layout, StageAction action);

}  // namespace windtunnel
