// The collectives of data parallelism for parameters of a stage: which groups of ranks gather
// weights and reduce gradients, in which order, with how many bytes, and the kernels before them.
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

// A collective with its preceding kernels. Without bytes: only the kernels that end a sequence.
struct Transfer {
  ReplicaAxis axis = ReplicaAxis::dense_shard;
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;
  double seconds = 0;  // of the collective on an idle network, without longer_s
  // Kernels run on the compute stream, after the previous transfer of the sequence and before the
  // collective.
  std::vector<CostPart> kernels = {};
  // the kernels run on the stream of collectives instead, as for sharding
  bool kernels_beside = false;
  bool starts_row = false;  // its kernels wait only for the gradients
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  // Additional (or, negative, less) time than for its bytes: because it overlaps another
  // collective, or stands for many small ones or for one that runs every few steps.
  double longer_s = 0;
  bool second_channel = false;  // on a separate stream in parallel to the others
};

// Costs of kernels that run consecutively on the job's GPU, charged to `category`. Kernels with the
// same origin are one part.
std::vector<CostPart> kernel_costs(const Job& job, const std::vector<Op>& kernels,
                                   Category category);

// How long the collectives take, including longer_s; with two streams the longer stream counts.
double seconds_of(const std::vector<Transfer>& transfers);

// Counts parameters on one GPU before they are sharded.
struct Amount {
  double dense = 0;
  double experts = 0;
};

// The groups of ranks that hold the same parameters, for all pipeline ranks.
class ReplicaNetwork {
 public:
  explicit ReplicaNetwork(const Job& job);
  // `links`: of the job's cluster.
  ReplicaNetwork(const Job& job, const LinkTable& links);

  // Whether it is valid for another job with the same layout and cluster.
  bool is_of(const Job& job) const { return traffic_of(job) == traffic_; }

  // Whether there is more than one replica.
  bool active() const { return active_; }
  // Whether collectives of the job run along the axis.
  bool uses(ReplicaAxis axis) const { return uses_[int(axis)]; }
  const StridedGroups& groups(ReplicaAxis axis) const { return groups_[int(axis)]; }
  // The shape of an axis; the job must use it.
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
  // Properties of a job other than its layout that determine which axes it uses.
  struct Traffic {
    bool experts = false;
    bool in_nodes = false;     // gradients are first reduced inside nodes
    bool unscattered = false;  // all traffic goes among all replicas, even if state is sharded
    bool whole = false;        // part of the traffic goes among all replicas
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
  std::vector<int> of_rank_;                                  // [pipeline rank] in shapes_
  std::vector<double> ring_factors_;                          // [pipeline rank]; empty: 1
};

// Which action of a stage gathers or reduces. The last backward pass also does once-per-step work:
// it sums copies of shards, and completes the levels.
enum class StageAction { first_forward, forward, backward, last_backward };

// Appends to `to`.
void append_gathers(const CollectiveCosts& costs, const ReplicaNetwork& network, int pp,
                    const Amount& amount, std::vector<Transfer>& to,
                    StageAction action = StageAction::forward);
// Lengthens transfers as if each were split into one transfer per share, as gathers and scatters
// through lists of slices are.
void split_transfers(const CollectiveCosts& costs, const ReplicaNetwork& network, int pp,
                     const std::vector<double>& shares, std::vector<Transfer>& transfers);

void append_reductions(const CollectiveCosts& costs, const ReplicaNetwork& network, int pp,
                       const Amount& amount, std::vector<Transfer>& to,
                       StageAction action = StageAction::last_backward);
// Whether ranks with equal shards sum them after a backward pass of this kind
// (Layout::copies_summed).
bool sums_copies(const Layout& layout, StageAction action);

}  // namespace windtunnel
