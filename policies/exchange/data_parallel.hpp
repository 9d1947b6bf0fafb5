// What data parallelism puts between and beside the actions of a pipeline rank: which parameters
// are gathered before which segment of an action, which gradients are reduced behind it. The Plan
// (pipeline_rank) and the closed form (iteration_estimate) both read it.
//
// What is gathered and reduced, and by which collectives: policies/exchange/shard_transfers.hpp.
//   none, zero1   reduced once, in the last backward of a stage, bucket by bucket (Li et al. 2020);
//                 zero1 gathers the updated weights bucket by bucket under the first forward
//                 (Rajbhandari et al. 2020, arXiv 1910.02054; Megatron's --overlap-param-gather)
//   zero2         the same, but gradients are not kept whole: every backward reduces
//   zero3         layer by layer in every action (FSDP's FULL_SHARD without no_sync: Zhao et al.
//                 2023, arXiv 2304.11277): gathered before forward and again before backward,
//                 reduced behind the backward of the layer. Embedding and head are in the outermost
//                 unit: gathered before the first layer, kept until the backward is through,
//                 reduced last. Two units are gathered at once, the one that runs and the next
//                 (limit_all_gathers), so a gather waits for the last segment but one; it goes
//                 before the reduction of the last segment (BACKWARD_PRE). All on one stream, in
//                 order.
// Without overlap the collectives stand between the actions (zero3: between the layers), and one
// waits for all.
//
// Other ways to place reductions, of none, zero1 and zero2 (Communication::overlap; which go with
// which: compressed_reductions.hpp):
//   blocking       buckets as bucketed has them, each reduced as soon as it is full; the rest of
//                  the backward pass waits for it (collectives on the cores that compute)
//   wfbp, mg_wfbp  as bucketed, each tensor alone, or merged where that pays
//   asc            as mg_wfbp, each bucket on the stream that is free first of two
//                  (run_two_at_once)
//   priority       in partitions, in the order that priority_order() finds for the backward of the
//                  stage alone. All ranks must agree on it, so it is fixed in the Plan. What has
//                  not been issued when the backward ends goes under the next forward pass, whose
//                  segments wait for their own gradients and their update
//   dear           reduce-scatter bucket by bucket under the backward pass; all-gather, and the
//                  update, in the order of the next forward pass, whose segments wait for theirs
// Under the last two a stage's step of an iteration begins with what the one before left: the
// channel is busy and the rank computes nothing between them, so that one iteration has the period
// of many; pipelines, whose ranks do not wait for each other, run several (in_a_row).
//
// Kernels beside collectives are slower (overlapped_slowdown), all policies alike: by the seconds
// of collectives that are issued and not through, were they back to back; kernels of compressors
// are not, and do not count as collectives.
//
// A schedule that says itself when stages are unsharded (unshard, reshard, reduce_grad) has under
// zero3 one gather of the whole stage where it says unshard and one reduction where it says
// reduce_grad, at the end where it says nothing; that kernels run slower beside them is not
// counted. Without zero3 there is nothing to unshard and these actions mean nothing.
#pragma once

#include <array>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/exchange/gradient_overlap.hpp"
#include "policies/exchange/segments.hpp"
#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

struct StageTraffic : ByAction<Segments> {
  std::vector<Transfer> at_end;  // reductions after all actions
  // Of actions of their own.
  std::vector<Transfer> unshard;
  std::vector<Transfer> reduce_grad;
};

// Segments of a forward and a backward that run as one and take `forward_s` and `backward_s` apart:
// one behind the other; where they meet, one segment if no collective stands between them.
Segments joined(const Segments& forward, double forward_s, const Segments& backward,
                double backward_s);

class DataParallel {
 public:
  // Keeps references. `units`: unit_costs(); segments are the same for all slices and slowed down
  // as by an average one. `slowdown`: overlapped_slowdown(job).
  DataParallel(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& units,
               double slowdown);

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
  // Stages with equal numbers have equal traffic.
  int traffic_number(int stage) const { return of_stage_[stage]; }
  const ReplicaNetwork& network() const { return network_; }
  // Parameters of a pipeline rank that one GPU updates.
  double updated_parameters(int pp) const;
  // The schedule says when stages are gathered and reduced.
  bool by_schedule() const { return by_schedule_; }

 private:
  // Part of a stage in the order of the backward pass.
  struct Cut {
    double share = 0;
    double forward_share = 0;
    Amount amount;                        // of all that becomes ready with it
    std::vector<GradientBucket> buckets;  // each reduced on its own
    Amount root;                          // embedding and head, under zero3
    GradientBucket root_bucket;
  };
  using Tensors = std::vector<StageTensor>;
  using Cuts = std::vector<Cut>;
  void add_gathers(int pp, const Amount& amount, std::vector<Transfer>& to,
                   StageAction action = StageAction::forward) const {
    append_gathers(job_, network_, pp, amount, to, action);
  }
  StageTraffic make(int stage, int first_layer, int layers) const;
  std::vector<GradientBucket> buckets_of(int stage, const Tensors& tensors) const;
  Cuts cut_by_bucket(int stage, const Tensors& tensors) const;
  Cuts cut_by_layer(const Tensors& tensors) const;
  void add_whole(int stage, const Tensors& tensors, StageTraffic& traffic) const;
  void add_at_end(int stage, const Tensors& tensors, std::vector<Transfer>& to) const;
  void add_buckets(int stage, const Tensors& tensors, const Cuts& cuts,
                   StageTraffic& traffic) const;
  void add_partitions(int stage, const Tensors& tensors, const Cuts& cuts, Segments& backward,
                      Segments& forward) const;
  void add_update(const Cut& cut, std::vector<Transfer>& to) const;
  void add_units(int stage, const Tensors& tensors, const Cuts& cuts, StageTraffic& traffic) const;
  void stretch_first_forwards();
  void look_for_kernels();

  // Of an average unit.
  struct Seconds {
    double forward_s = 0;
    double backward_input_s = 0;  // with the recomputation, where that is no action of its own
    double backward_weight_s = 0;
  };
  const ChunkCost& chunk(int stage) const {
    return units_[std::size_t(schedule_.model_stage(stage)) * schedule_.slices];
  }
  const Seconds& seconds(int stage) const { return seconds_[schedule_.model_stage(stage)]; }
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
  ReplicaNetwork network_;
  GradientExchange exchange_;
  std::vector<StageTraffic> traffic_;
  std::vector<int> of_stage_;  // [stage] -> index into traffic_
};

// Tied embeddings, and the first and the last stage lie on the same rank: it holds them once.
bool embeddings_together(const Job& job, const Schedule& schedule);

// By how much kernels are slowed down while a collective runs on their GPU.
double overlapped_slowdown(const Job& job);

}  // namespace windtunnel
