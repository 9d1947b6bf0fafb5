// The communication of data parallelism between the actions of a pipeline rank and in parallel to
// them: which parameters are gathered before which segment of an action, and which gradients are
// reduced after it. layout.sharding and communication.overlap determine this. The Plan
// (policies/lowering/pipeline_rank.cpp) and the closed form (iteration_estimate.hpp) both use it.
// Rules with sources: docs/physics/gradients.md. Groups and bytes of each collective:
// shard_transfers.hpp; buckets and their order: gradient_overlap.hpp; compressors and servers:
// compressed_reductions.hpp.
#pragma once

#include <array>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/exchange/gradient_overlap.hpp"
#include "policies/exchange/job_geometry.hpp"
#include "policies/exchange/segments.hpp"
#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

struct StageTraffic : ByAction<Segments> {
  std::vector<Transfer> at_end;  // reductions after all actions
  HostCopies evicted_at_end;     // copied to the host after these reductions
  // Transfers of the schedule's unshard and reduce_grad actions, if it has these.
  std::vector<Transfer> unshard;
  std::vector<Transfer> reduce_grad;
};

class DataParallel {
 public:
  // Keeps references. `units`: unit_costs(). All slices have the same segments, with the slowdown
  // of an average slice. `slowdown`: overlapped_slowdown(job). `geometry`: the job's, if it is
  // already computed.
  DataParallel(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& units,
               double slowdown, SharedGeometry geometry = nullptr);

  bool active() const { return network_.active(); }
  bool overlaps() const { return overlaps_; }
  // Whether some transfers have kernels, or overlap other transfers.
  bool has_kernels() const { return has_kernels_; }
  bool has_second_channel() const { return has_second_channel_; }
  // Whether gradients of an iteration arrive in the next one, where they update weights.
  bool crosses() const { return crosses_; }
  // Whether the gathers of the first forward are all issued when the iteration starts; otherwise
  // each is issued before its segment.
  bool gathers_early() const { return job_.layout.sharding != Sharding::zero3; }

  const StageTraffic& stage(int stage) const { return traffic_[of_stage_[stage]]; }
  // StageTraffic::first_forward, slowed down by the gathers at the start of the iteration. Stages
  // with otherwise equal traffic may differ in this.
  const Segments& first_forward(int stage) const {
    const int own = own_first_[stage];
    return own < 0 ? traffic_[of_stage_[stage]].first_forward : first_forwards_[own];
  }
  const Segments& segments(int stage, ActionKind kind, bool first, bool last) const {
    const bool first_forward = kind == ActionKind::forward && first;
    return first_forward ? this->first_forward(stage) : this->stage(stage).of(kind, first, last);
  }
  // Stages with equal numbers have equal traffic, apart from first forwards.
  int traffic_number(int stage) const { return of_stage_[stage]; }
  const JobGeometry& geometry() const { return *geometry_; }
  const ReplicaNetwork& network() const { return network_; }
  const CollectiveCosts& collective_costs() const { return exchange_.collective_costs(); }
  // Returns the mean number of parameters that one GPU of a pipeline rank updates.
  double updated_parameters(int pp) const;
  // Returns ChunkCost::offloaded_bytes of an average slice, which the stage's segments contain.
  double offloaded_bytes(int stage) const;
  // Whether the schedule has actions that gather stages and reduce their gradients.
  bool by_schedule() const { return by_schedule_; }

 private:
  // A part of a stage's passes, in the order of the backward pass.
  struct Cut {
    double share = 0;
    double forward_share = 0;
    Amount amount;                        // all gradients that are ready after this part
    Amount gathered;                      // weights that are gathered for this part, if sharded
    std::vector<GradientBucket> buckets;  // each reduced separately
    Amount root;                          // embedding and head, gathered under zero3
    GradientBucket root_bucket;
  };
  using Tensors = std::vector<StageTensor>;
  using Cuts = std::vector<Cut>;
  void add_gathers(int pp, const Amount& amount, std::vector<Transfer>& to,
                   StageAction action = StageAction::forward) const {
    append_gathers(collective_costs(), network_, pp, amount, to, action);
  }
  StageTraffic make(int stage, int first_layer, int layers) const;
  ChunkCost average_slice(int stage) const;
  StageTraffic exchanges(int stage, const Tensors& tensors) const;
  // Returns the weights of a stage that are gathered.
  Amount gathered_amount(int stage, const Tensors& tensors) const;
  std::vector<GradientBucket> buckets_of(int stage, const Tensors& tensors) const;
  Cuts cut_by_bucket(int stage, const Tensors& tensors) const;
  Cuts cut_by_layer(const Tensors& tensors) const;
  void add_whole(int stage, const Tensors& tensors, StageTraffic& traffic) const;
  void add_at_end(int stage, const Tensors& tensors, std::vector<Transfer>& to,
                  StageAction action = StageAction::last_backward) const;
  void add_buckets(int stage, const Tensors& tensors, const Cuts& cuts,
                   StageTraffic& traffic) const;
  void add_partitions(int stage, const Tensors& tensors, const Cuts& cuts, Segments& backward,
                      Segments& forward) const;
  void add_update(int pp, const Cut& cut, Segment& to) const;
  void add_units(int stage, const Tensors& tensors, const Cuts& cuts, StageTraffic& traffic) const;
  void stretch_first_forwards();
  void look_for_kernels();

  // How long the actions of an average unit take.
  struct Seconds {
    double forward_s = 0;
    double backward_input_s = 0;  // includes recomputation, unless that is a separate action
    double backward_weight_s = 0;
  };
  const ChunkCost& chunk(int stage) const {
    return units_[std::size_t(schedule_.model_stage(stage)) * schedule_.slices];
  }
  const Seconds& seconds(int stage) const { return seconds_[schedule_.model_stage(stage)]; }
  void slow_down_passes(const Seconds& own, StageTraffic& traffic) const;
  void read_schedule();
  bool equal(int stage, int other, const std::vector<int>& layers) const;

  const Job& job_;
  const Schedule& schedule_;
  const std::vector<ChunkCost>& units_;
  const std::vector<int>& rank_of_;
  std::vector<Seconds> seconds_;  // [stage of the model]
  std::vector<bool> reduces_;     // [stage] whether reduce_grad actions reduce its gradients
  bool by_schedule_ = false;
  bool overlaps_ = false;
  bool crosses_ = false;
  bool has_kernels_ = false;
  bool has_second_channel_ = false;
  double slowdown_ = 0;
  SharedGeometry geometry_;
  const ReplicaNetwork& network_;
  GradientExchange exchange_;
  std::vector<StageTraffic> traffic_;
  std::vector<int> of_stage_;  // [stage] -> index into traffic_
  std::vector<Segments> first_forwards_;
  std::vector<int> own_first_;  // [stage] -> index into first_forwards_; -1: as in traffic_
};

// Whether embeddings are tied and one rank has both the first and the last stage, so that it holds
// them once.
bool embeddings_together(const Job& job, const Schedule& schedule);

// Relative slowdown of kernels while a collective runs on their GPU.
double overlapped_slowdown(const Job& job);

}  // namespace windtunnel
