// Says what data parallelism puts between and beside the actions of a pipeline rank: which
// parameters are gathered before which segment of an action, and which gradients are reduced behind
// it, by layout.sharding and communication.overlap. The Plan (policies/lowering/pipeline_rank.cpp)
// and the closed form (iteration_estimate.hpp) both read it.
//
// The rules in words, with their sources: docs/physics/gradients.md. Groups and bytes of each
// collective: shard_transfers.hpp; buckets and their order: gradient_overlap.hpp; compressors and
// servers: compressed_reductions.hpp.
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
  HostCopies evicted_at_end;     // behind those
  // For schedules with actions of their own.
  std::vector<Transfer> unshard;
  std::vector<Transfer> reduce_grad;
};

class DataParallel {
 public:
  // Keeps references. `units`: unit_costs(); segments are the same for all slices and slowed down
  // as by an average one. `slowdown`: overlapped_slowdown(job).
  // `geometry`: of the job, if it is known.
  DataParallel(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& units,
               double slowdown, SharedGeometry geometry = nullptr);

  bool active() const { return network_.active(); }
  bool overlaps() const { return overlaps_; }
  // Some transfers have kernels, or run beside others.
  bool has_kernels() const { return has_kernels_; }
  bool has_second_channel() const { return has_second_channel_; }
  // Gradients of an iteration arrive in the next one, with the updates of the weights.
  bool crosses() const { return crosses_; }
  // The gathers of the first forward are issued when the iteration starts; otherwise each in its
  // turn.
  bool gathers_early() const { return job_.layout.sharding != Sharding::zero3; }

  const StageTraffic& stage(int stage) const { return traffic_[of_stage_[stage]]; }
  // StageTraffic::first_forward, longer by what the gathers of an iteration take from its kernels:
  // that differs by stage where nothing else does.
  const Segments& first_forward(int stage) const {
    const int own = own_first_[stage];
    return own < 0 ? traffic_[of_stage_[stage]].first_forward : first_forwards_[own];
  }
  const Segments& segments(int stage, ActionKind kind, bool first, bool last) const {
    const bool first_forward = kind == ActionKind::forward && first;
    return first_forward ? this->first_forward(stage) : this->stage(stage).of(kind, first, last);
  }
  // Stages with equal numbers have equal traffic, but for their first forwards.
  int traffic_number(int stage) const { return of_stage_[stage]; }
  const JobGeometry& geometry() const { return *geometry_; }
  const ReplicaNetwork& network() const { return network_; }
  const CollectiveCosts& collective_costs() const { return exchange_.collective_costs(); }
  // Parameters of a pipeline rank that one GPU updates, on average.
  double updated_parameters(int pp) const;
  // ChunkCost::offloaded_bytes of an average slice, whose copies the segments of the stage have.
  double offloaded_bytes(int stage) const;
  // The schedule says when stages are gathered and reduced.
  bool by_schedule() const { return by_schedule_; }

 private:
  // Part of a stage in the order of the backward pass.
  struct Cut {
    double share = 0;
    double forward_share = 0;
    Amount amount;                        // everything that becomes ready with it
    Amount gathered;                      // of weights, where they are sharded
    std::vector<GradientBucket> buckets;  // each reduced on its own
    Amount root;                          // gathered of embedding and head, under zero3
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
  // The weights of a stage that are gathered.
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

  // For an average unit.
  struct Seconds {
    double forward_s = 0;
    double backward_input_s = 0;  // with the recomputation, where that is no action of its own
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
  std::vector<bool> reduces_;     // [stage] in an action of its own
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
  std::vector<int> own_first_;  // [stage] -> index into first_forwards_; -1: as its traffic has it
};

// Tied embeddings, and the first and the last stage lie on the same rank: it holds them once.
bool embeddings_together(const Job& job, const Schedule& schedule);

// By how much kernels are slowed down while a collective runs on their GPU.
double overlapped_slowdown(const Job& job);

}  // namespace windtunnel
