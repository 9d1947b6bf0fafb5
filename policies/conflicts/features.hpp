// The features of jobs that rows of the table of conflicts name: each has a key and a predicate.
#pragma once

#include <algorithm>

#include "models/compression/compressors.hpp"
#include "models/compression/robust.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/parallel/tensor_ops.hpp"
#include "models/plan/state_shares.hpp"
#include "models/plan/step_workers.hpp"
#include "models/workload/tower.hpp"
#include "models/workload/training.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/exchange/replica_groups.hpp"
#include "policies/outer/island_nodes.hpp"
#include "policies/schedules/schedules.hpp"

namespace windtunnel::features {

inline bool states(const Asked& of, std::string_view key) {
  return of.stated && of.stated(key);
}
inline bool is_away(MemoryTier tier) {
  return tier == MemoryTier::host || tier == MemoryTier::disk;
}
inline const CompressorKind& kind_of(const Asked& of) {
  return compressor_kind(of.job.communication.compressors.dp);
}
inline bool has_action(const Schedule* schedule, ActionKind first, ActionKind second) {
  return schedule != nullptr && std::ranges::any_of(schedule->actions, [&](const auto& actions) {
           return std::ranges::any_of(actions, [&](const Action& action) {
             return action.kind == first || action.kind == second;
           });
         });
}

// ---- Model, layout, machine.

inline constexpr Feature kLayerTable = {"a table of layers", "model",
                                        [](const Asked& of) { return of.job.network != nullptr; }};
inline constexpr Feature kTied = {"tied embeddings", "model.tied_embeddings", [](const Asked& of) {
                                    return !of.job.network && of.job.model.tied_embeddings;
                                  }};
inline constexpr Feature kUntied = {"separate weights of embedding and head",
                                    "model.tied_embeddings",
                                    [](const Asked& of) { return !of.job.model.tied_embeddings; }};
inline constexpr Feature kExperts = {"experts", "model.moe",
                                     [](const Asked& of) { return of.job.model.moe_layers() > 0; }};
inline constexpr Feature kExpertsApart = {
    "experts sharded over fewer ranks than other weights", "layout.ep", [](const Asked& of) {
      return kExperts.in(of) &&
             state_shards(of.job, true).weights != state_shards(of.job, false).weights;
    }};
inline constexpr Feature kNoCausalFlash = {
    "attention other than causal flash", "model.attention", [](const Asked& of) {
      return of.job.model.attention != AttentionKernel::flash || !of.job.model.masked();
    }};
inline constexpr Feature kNoCausalSoftmax = {
    "attention other than causal softmax", "model.attention", [](const Asked& of) {
      const TransformerSpec& model = of.job.model;
      return !model.masked() || model.encoder || model.source_tokens > 0 ||
             model.attention == AttentionKernel::linear;
    }};
inline constexpr Feature kBidirectional = {
    "layers without a mask", "model.bidirectional",
    [](const Asked& of) { return of.job.model.bidirectional; }};
inline constexpr Feature kLinearAttention = {
    "linear attention", "model.attention",
    [](const Asked& of) { return of.job.model.attention == AttentionKernel::linear; }};
inline constexpr Feature kSoftmaxAttention = {
    "attention with softmax", "model.attention",
    [](const Asked& of) { return !kLinearAttention.in(of); }};
inline constexpr Feature kFlashAttention = {
    "attention in one kernel", "model.attention",
    [](const Asked& of) { return of.job.model.attention == AttentionKernel::flash; }};
inline constexpr Feature kLayerPattern = {
    "a pattern of layers", "model.hybrid_override_pattern",
    [](const Asked& of) { return !of.job.network && !of.job.model.pattern.empty(); }};
inline constexpr Feature kScans = {"scans", "model.mamba", [](const Asked& of) {
                                     return kLayerPattern.in(of) &&
                                            of.job.model.layers_with(has_mamba) > 0;
                                   }};
inline constexpr Feature kChosenKeys = {
    "keys that an indexer chooses", "model.sparse",
    [](const Asked& of) { return of.job.model.chooses_keys(of.job.batch.sequence); }};
inline constexpr Feature kTwoStacks = {
    "an encoder and a decoder", "model.source_tokens",
    [](const Asked& of) { return !of.job.network && of.job.model.source_tokens > 0; }};
inline constexpr Feature kProjectedKeys = {
    "projected keys", "model.projected_keys",
    [](const Asked& of) { return !of.job.network && of.job.model.projected_keys > 0; }};
inline constexpr Feature kTower = {
    "a tower before the decoder", "model.tower", [](const Asked& of) {
      return !of.job.network && of.job.model.tower && of.job.model.tower->sources > 0;
    }};
inline constexpr Feature kTrainedTower = {
    "a tower or projector that is trained", "model.tower", [](const Asked& of) {
      const Job& job = of.job;
      const auto trains = [&](int part) {
        return part_training(job.training.get(), part, job.model.layers).weights;
      };
      const bool tower = !job.network && job.model.tower != nullptr;
      return tower && (trains(kTowerPart) || trains(kProjectorPart));
    }};
inline constexpr Feature kSpecialAttention = {
    "linear attention, or windows, frames, latents or gates", "model.attention",
    [](const Asked& of) {
      const TransformerSpec& model = of.job.model;
      return model.latent.kv_rank > 0 || model.window > 0 || model.frames > 0 ||
             model.attention_gate || model.attention == AttentionKernel::linear;
    }};
inline constexpr Feature kCausal = {"a causal mask", "model.bidirectional",
                                    [](const Asked& of) { return of.job.model.masked(); }};
inline constexpr Feature kPredictors = {
    "multi-token prediction", "model.mtp_layers",
    [](const Asked& of) { return !of.job.network && of.job.model.mtp_layers > 0; }};
inline constexpr Feature kFrames = {"layers over frames", "model.frames",
                                    [](const Asked& of) { return of.job.model.frames > 0; }};
inline constexpr Feature kUnmasked = {
    "bidirectional attention", "model.attention",
    [](const Asked& of) { return !of.job.model.masked() && !kFrames.in(of); }};
inline constexpr Feature kNotMixed = {"weights of 32 bits", "precision",
                                      [](const Asked& of) { return !is_mixed(of.job.precision); }};
inline constexpr Feature kNotAdam = {
    "an optimizer other than Adam", "software.optimizer",
    [](const Asked& of) { return of.job.software.optimizer != Optimizer::adam; }};

inline constexpr Feature kMuon = {"Muon", "software.optimizer", [](const Asked& of) {
                                    return of.job.software.optimizer == Optimizer::muon;
                                  }};

inline constexpr Feature kTensorRanks = {"tensor parallelism", "layout.tp",
                                         [](const Asked& of) { return of.job.layout.tp > 1; }};
inline constexpr Feature kContextRanks = {"context parallelism", "layout.cp",
                                          [](const Asked& of) { return of.job.layout.cp > 1; }};
inline constexpr Feature kFormOfSoftmax = {
    "a form of cp other than lasp and ulysses", "layout.context", [](const Asked& of) {
      const ContextForm form = of.job.layout.context;
      return kContextRanks.in(of) && form != ContextForm::lasp && form != ContextForm::ulysses;
    }};
inline constexpr Feature kLasp = {
    "cp by the state of linear attention", "layout.context", [](const Asked& of) {
      return kContextRanks.in(of) && of.job.layout.context == ContextForm::lasp;
    }};
inline constexpr Feature kRsa = {"cp by rings of scores", "layout.context", [](const Asked& of) {
                                   return kContextRanks.in(of) &&
                                          of.job.layout.context == ContextForm::rsa;
                                 }};
inline constexpr Feature kFormBesideScans = {
    "a form of cp other than ring and ulysses", "layout.context", [](const Asked& of) {
      const ContextForm form = of.job.layout.context;
      return kContextRanks.in(of) && form != ContextForm::ring && form != ContextForm::ulysses;
    }};
inline constexpr Feature kFormBesideProjection = {
    "a form of cp other than ring and rsa", "layout.context", [](const Asked& of) {
      const ContextForm form = of.job.layout.context;
      return kContextRanks.in(of) && form != ContextForm::ring && form != ContextForm::rsa;
    }};
inline constexpr Feature kPipeline = {"a pipeline", "layout.pp",
                                      [](const Asked& of) { return of.job.layout.pp > 1; }};
inline constexpr Feature kOnePipelineRank = {"one pipeline rank", "layout.pp",
                                             [](const Asked& of) { return of.job.layout.pp == 1; }};
inline constexpr Feature kChunks = {"several chunks of a pipeline rank", "layout.vpp",
                                    [](const Asked& of) { return of.job.layout.vpp > 1; }};
inline constexpr Feature kExpertRanks = {"expert parallelism", "layout.ep",
                                         [](const Asked& of) { return of.job.layout.ep > 1; }};
inline constexpr Feature kStages = {"several stages", "layout.pp",
                                    [](const Asked& of) { return of.job.layout.stages() > 1; }};
inline constexpr Feature kDividedReplicas = {
    "replicas of several ranks", "layout", [](const Asked& of) {
      return kPipeline.in(of) || kTensorRanks.in(of) || kContextRanks.in(of);
    }};
inline constexpr Feature kSeveralRanks = {
    "several GPUs", "layout", [](const Asked& of) { return of.job.layout.ranks() > 1; }};
inline constexpr Feature kTwoD = {
    "tensors in two dimensions", "layout.tp_form",
    [](const Asked& of) { return of.job.layout.tensor != TensorForm::one_d; }};
inline constexpr Feature kMesh = {"tensors on a mesh", "layout.tp_form",
                                  [](const Asked& of) { return of.job.layout.mesh_side() > 1; }};
inline constexpr Feature kSharded = {"sharded gradients", "layout.sharding", [](const Asked& of) {
                                       return of.job.layout.sharding != Sharding::none;
                                     }};
inline constexpr Feature kUnsharded = {"no sharding", "layout.sharding",
                                       [](const Asked& of) { return !kSharded.in(of); }};
inline constexpr Feature kZero2 = {"zero2 or zero3", "layout.sharding", [](const Asked& of) {
                                     return of.job.layout.sharding >= Sharding::zero2;
                                   }};
inline constexpr Feature kZero3 = {"zero3", "layout.sharding", [](const Asked& of) {
                                     return of.job.layout.sharding == Sharding::zero3;
                                   }};
inline constexpr Feature kShardedState = {"zero1 or zero2", "layout.sharding", [](const Asked& of) {
                                            return kSharded.in(of) && !kZero3.in(of);
                                          }};
inline constexpr Feature kLoneReplica = {"one replica alone", "layout.dp", [](const Asked& of) {
                                           return of.job.layout.island_replicas() <=
                                                      of.job.layout.cp &&
                                                  step_workers(of.job.layout) == 1;
                                         }};
inline constexpr Feature kOneWorker = {
    "replicas that all wait for each other within passes", "layout.sharding", [](const Asked& of) {
      const Layout& layout = of.job.layout;
      return layout.island_replicas() > layout.cp && step_workers(layout) == 1;
    }};
inline constexpr Feature kWeightRanks = {
    "weights sharded in two levels", "layout.weight_ranks",
    [](const Asked& of) { return kZero3.in(of) && of.job.layout.weight_ranks > 0; }};
inline constexpr Feature kGradientRanks = {
    "levels of gradients", "layout.gradient_ranks",
    [](const Asked& of) { return of.job.layout.gradient_ranks > 0; }};
inline constexpr Feature kLevelsOfGradients = {
    "levels of gradients under zero3", "layout.gradient_ranks",
    [](const Asked& of) { return kZero3.in(of) && kGradientRanks.in(of); }};
inline constexpr Feature kGradientBits = {
    "bits of gradients", "layout.gradient_bits",
    [](const Asked& of) { return of.job.layout.gradient_bits > 0; }};
inline constexpr Feature kSmallShards = {
    "shards with copies or sub-shards", "layout.shard_ranks", [](const Asked& of) {
      const Layout& layout = of.job.layout;
      return has_shard_keys(layout) || shard_ranks(layout).optimizer < layout.dp * layout.cp;
    }};
// A list of shares is stored in the layout only after it has been checked, so the key is asked for.
inline constexpr Feature kUnevenState = {
    "uneven shares of the training state", "layout.shard_shares", [](const Asked& of) {
      return of.job.layout.state != StateShares::even || states(of, "layout.shard_shares.0");
    }};
inline constexpr Feature kSharesToFind = {
    "shares of the training state by free memory", "layout.shard_shares", [](const Asked& of) {
      const Layout& layout = of.job.layout;
      return layout.state == StateShares::automatic && layout.state_of_pool.empty();
    }};
inline constexpr Feature kStagesToFind = {
    "layers per stage chosen by time", "layout.stages", [](const Asked& of) {
      const Layout& layout = of.job.layout;
      return layout.balance == StageBalance::automatic && layout.stage_layers.empty();
    }};
inline constexpr Feature kMemoryToFind = {
    "recomputation or offload that a search finds", "recompute",
    [](const Asked& of) {
      return of.job.recompute == Recompute::automatic || leaves_open(of.offload);
    },
    "offload"};
// Whether the members of a pipeline rank stand in several pools; `ranks` counts them by pool.
inline bool stands_on_several(const std::vector<int>& ranks) {
  return std::ranges::count(ranks, 0) < std::ssize(ranks) - 1;
}
inline constexpr Feature kSplitOverPools = {"ranks of a layer on several pools", "layout.place",
                                            [](const Asked& of) {
                                              for (int pp = 0; pp < of.job.layout.pp; ++pp) {
                                                for (const int own : ranks_by_pool(of.job, pp)) {
                                                  if (own % ranks_in_step(of.job.layout) != 0)
                                                    return true;
                                                }
                                              }
                                              return false;
                                            }};
inline constexpr Feature kCopiesOnOnePool = {"copies of the state that each stay on one pool",
                                             "layout.place", [](const Asked& of) {
                                               for (int pp = 0; pp < of.job.layout.pp; ++pp) {
                                                 if (stands_on_several(ranks_by_pool(of.job, pp)))
                                                   return false;
                                               }
                                               return true;
                                             }};
inline constexpr Feature kMixesOfPools = {
    "stages on several mixes of pools", "layout.place", [](const Asked& of) {
      std::vector<int> mixed;
      for (int pp = 0; pp < of.job.layout.pp; ++pp) {
        const std::vector<int> own = ranks_by_pool(of.job, pp);
        if (!stands_on_several(own)) continue;
        if (!mixed.empty() && mixed != own) return true;
        mixed = own;
      }
      return false;
    }};

inline constexpr Feature kPools = {"nodes of different kinds", "cluster.pools",
                                   [](const Asked& of) { return !of.job.cluster.pools.empty(); }};
inline constexpr Feature kAlike = {"nodes of one kind", "cluster.node",
                                   [](const Asked& of) { return !kPools.in(of); }};
inline constexpr Feature kSlowNodes = {"slow nodes", "cluster.slow_nodes", [](const Asked& of) {
                                         return !of.job.cluster.slow_nodes.empty();
                                       }};
inline constexpr Feature kTaskFactors = {
    "factors of tasks", "cluster.jitter.per",
    [](const Asked& of) { return of.job.cluster.jitter.per == JitterPer::task; }};
inline constexpr Feature kTaskJitter = {
    "jitter of tasks", "cluster.jitter.per",
    [](const Asked& of) { return of.job.cluster.jitter.active() && kTaskFactors.in(of); }};
inline constexpr Feature kUnsteady = {
    "slow nodes or jitter", "cluster.slow_nodes", [](const Asked& of) {
      return !of.job.cluster.slow_nodes.empty() || of.job.cluster.jitter.active();
    }};

// ---- Batch, schedule, software.

inline constexpr Feature kLengths = {"sequences of unequal length", "batch.lengths",
                                     [](const Asked& of) { return of.job.lengths.has_value(); }};
inline constexpr Feature kLengthGroups = {
    "groups of different degrees", "layout.length_policy", [](const Asked& of) {
      return of.job.lengths && of.job.lengths->policy != LengthPolicy::fixed;
    }};
inline constexpr Feature kOneDegree = {
    "a form of cp of one degree", "layout.context", [](const Asked& of) {
      const ContextForm form = of.job.layout.context;
      return form != ContextForm::ring && form != ContextForm::ulysses &&
             form != ContextForm::burst && form != ContextForm::token_ring;
    }};
inline constexpr Feature kUnevenBatch = {
    "uneven shares of the batch", "batch.shares",
    [](const Asked& of) { return of.job.batch.shares != BatchShares::even; }};
inline constexpr Feature kAccumulation = {
    "several micro-batches", "batch.micro",
    [](const Asked& of) { return microbatches(of.job.layout, of.job.batch) > 1; }};
inline constexpr Feature kScatteredMicrobatches = {
    "several micro-batches under zero2 or zero3", "layout.sharding",
    [](const Asked& of) { return kZero2.in(of) && kAccumulation.in(of); }};
inline constexpr Feature kSequenceSlices = {
    "slices of sequences", "schedule.slices",
    [](const Asked& of) { return of.job.schedule.slices > 1; }};
inline constexpr Feature kTimedSchedule = {
    "a schedule made for equal micro-batches", "schedule", [](const Asked& of) {
      const ScheduleChoice& schedule = of.job.schedule;
      return schedule.imported != nullptr || schedule.defer_weights ||
             schedule.recompute_share != 1 || (schedule_kind(schedule).knobs & kUnlikeUnits) == 0;
    }};
inline constexpr Feature kStepsApart = {
    "a schedule in which ranks do not end steps together", "schedule", [](const Asked& of) {
      return of.job.software.post_validation || schedule_kind(of.job.schedule).asynchronous;
    }};
inline constexpr Feature kPostValidation = {
    "steps that are validated afterwards", "software.post_validation",
    [](const Asked& of) { return of.job.software.post_validation; }};
inline constexpr Feature kDispatch = {"programs that a controller starts", "software.dispatch",
                                      [](const Asked& of) {
                                        return of.job.software.dispatch_latency_s > 0 ||
                                               of.job.software.dispatch_gang != DispatchGang::none;
                                      }};
inline constexpr Feature kGangs = {"gangs", "software.dispatch.gang", [](const Asked& of) {
                                     return of.job.software.dispatch_gang != DispatchGang::none;
                                   }};
inline constexpr Feature kAsynchronous = {
    "a schedule without a flush", "schedule",
    [](const Asked& of) { return schedule_kind(of.job.schedule).asynchronous; }};
inline constexpr Feature kTensorOverlap = {
    "overlap inside layers", "software.tp_overlap", [](const Asked& of) {
      return kTensorRanks.in(of) && of.job.software.tp_overlap != TensorOverlap::none;
    }};
inline constexpr Feature kHalfLayers = {
    "overlap of halves of layers", "software.tp_overlap", [](const Asked& of) {
      return kTensorOverlap.in(of) && of.job.software.tp_overlap != TensorOverlap::pipelined;
    }};
inline constexpr Feature kSegments = {
    "micro-batches in segments", "software.tp_overlap",
    [](const Asked& of) { return tensor_slices(of.job) > 1 || tensor_columns(of.job) > 1; }};
inline constexpr Feature kTiles = {"tiles of MLPs", "software.mlp_tiles",
                                   [](const Asked& of) { return of.job.software.mlp_tiles > 1; }};
inline constexpr Feature kRecomputedModules = {
    "recomputation of modules", "recompute",
    [](const Asked& of) { return of.job.recompute.modules != 0; }};
inline constexpr Feature kNoRecompute = {"no recomputation", "recompute", [](const Asked& of) {
                                           return of.job.recompute == Recompute::none;
                                         }};

// ---- Exchanges.

inline constexpr Feature kServed = {
    "parameter servers", "communication.aggregation", [](const Asked& of) {
      return of.job.communication.aggregation == Aggregation::parameter_server;
    }};
inline constexpr Feature kDear = {"overlap dear", "communication.overlap", [](const Asked& of) {
                                    return of.job.communication.overlap == GradientOverlap::dear;
                                  }};
inline constexpr Feature kPriority = {
    "overlap priority", "communication.overlap",
    [](const Asked& of) { return of.job.communication.overlap == GradientOverlap::priority; }};
inline constexpr Feature kCrossing = {
    "overlap dear or priority", "communication.overlap",
    [](const Asked& of) { return crosses_iterations(of.job.communication.overlap); }};
inline constexpr Feature kCrossingShards = {
    "sharded state with overlap dear or priority", "communication.overlap",
    [](const Asked& of) { return kCrossing.in(of) && kSharded.in(of); }};
inline constexpr Feature kLateGradients = {
    "gradients that arrive in the next step", "communication.overlap",
    [](const Asked& of) { return kCrossing.in(of) && of.job.layout.dp * of.job.layout.cp > 1; }};
inline constexpr Feature kBeyondBuckets = {
    "an overlap other than none and bucketed", "communication.overlap", [](const Asked& of) {
      return of.job.communication.overlap != GradientOverlap::none &&
             of.job.communication.overlap != GradientOverlap::bucketed;
    }};
inline constexpr Feature kEmbeddingRows = {
    "rows of embeddings", "communication.embeddings",
    [](const Asked& of) { return of.job.communication.embeddings != EmbeddingExchange::dense; }};
inline constexpr Feature kInnerTasks = {
    "collectives of layers as tasks", "communication.inner",
    [](const Asked& of) { return of.job.communication.inner == InnerForm::tasks; }};
inline constexpr Feature kBoundaryRank = {
    "messages of low rank between stages", "communication.boundary_rank",
    [](const Asked& of) { return of.job.communication.boundary_rank > 0; }};
inline constexpr Feature kScatteredSends = {
    "messages that tensor ranks share", "software.scatter_sends",
    [](const Asked& of) { return of.job.software.scatter_sends; }};
inline constexpr Feature kCompressedMessages = {
    "compressed messages between stages", "compress",
    [](const Asked& of) { return compresses(of.job.communication.compressors.pp); }};
inline constexpr Feature kRobust = {
    "robust aggregation", "communication.robust",
    [](const Asked& of) { return of.job.communication.robust != nullptr; }};
inline constexpr Feature kMonna = {"the rule monna", "communication.robust", [](const Asked& of) {
                                     return kRobust.in(of) &&
                                            of.job.communication.robust->rule == RobustRule::monna;
                                   }};

// Returns why there are too few replicas for the robust rule; empty: there are enough.
inline std::string why_few_replicas(const Job& job) {
  if (!job.communication.robust) return "";
  return why_not(*job.communication.robust, job.layout.island_dp());
}
inline constexpr Feature kFewReplicas = {
    "too few replicas for a rule", "layout.dp",
    [](const Asked& of) { return !why_few_replicas(of.job).empty(); }};
// Whether nodes stand in the default order. Unlike nodes must have this order.
inline bool stand_in_order(const Cluster& cluster) {
  if (cluster.pools.empty()) return cluster.is_whole();
  for (std::size_t node = 0; node < cluster.places.size(); ++node) {
    if (cluster.places[node] != static_cast<int>(node)) return false;
  }
  return true;
}
inline constexpr Feature kOutOfOrder = {
    "nodes out of order", "layout.placement",
    [](const Asked& of) { return !stand_in_order(of.job.cluster); }};
inline constexpr Feature kRelayout = {
    "another layout on fewer nodes", "recovery.when_no_spare",
    [](const Asked& of) { return of.job.recovery.when_no_spare == WhenNoSpare::relayout; }};

inline constexpr Feature kGoesOnSmaller = {
    "going on with fewer nodes", "recovery.when_no_spare", [](const Asked& of) {
      return kRelayout.in(of) || of.job.recovery.when_no_spare == WhenNoSpare::shrink;
    }};
inline constexpr Feature kIslandsOnSharedNodes = {
    "islands that share nodes", "sync", [](const Asked& of) {
      const Job& job = of.job;
      return !job.sync.empty() && !goes_on_by_islands(job);
    }};
inline constexpr Feature kListedLayouts = {
    "listed layouts on fewer nodes", "recovery.relayout",
    [](const Asked& of) { return kRelayout.in(of) && !of.job.recovery.relayouts.empty(); }};
inline constexpr Feature kReroute = {
    "rerouting the passes of lost nodes", "recovery.when_no_spare",
    [](const Asked& of) { return of.job.recovery.when_no_spare == WhenNoSpare::reroute; }};
inline constexpr Feature kShrinking = {
    "fewer replicas on fewer nodes", "recovery.when_no_spare",
    [](const Asked& of) { return of.job.recovery.when_no_spare == WhenNoSpare::shrink; }};

inline constexpr std::string_view kCompressor = "communication.compressor";
inline constexpr Feature kCompressed = {
    "compressed gradients", kCompressor,
    [](const Asked& of) { return compresses(of.job.communication.compressors.dp); }, "compress"};
inline constexpr Feature kMoments = {
    "a compressor of moments", kCompressor,
    [](const Asked& of) { return kCompressed.in(of) && kind_of(of).of_moments; }, "compress"};
inline constexpr Feature kWholeMomentum = {
    "a compressor of a rank's momentum", kCompressor,
    [](const Asked& of) { return kCompressed.in(of) && kind_of(of).whole_momentum; }, "compress"};
inline constexpr Feature kWholeTensors = {
    "a compressor of whole matrices", kCompressor,
    [](const Asked& of) { return kCompressed.in(of) && kind_of(of).whole_tensors; }, "compress"};
inline constexpr Feature kSeveralCollectives = {
    "a compressor of several collectives", kCompressor,
    [](const Asked& of) { return kCompressed.in(of) && !kind_of(of).fusible; }, "compress"};
inline constexpr Feature kAcross = {"compression only across nodes, sites or copies", kCompressor,
                                    [](const Asked& of) { return compresses_across(of.job); },
                                    "compress"};
inline constexpr Feature kHops = {
    "a compressor that reduces inside nodes first", kCompressor,
    [](const Asked& of) {
      // Building a recipe costs more than all other predicates, so this test comes last.
      if (!kCompressed.in(of) || !kExperts.in(of)) return false;
      if (compresses_across(of.job)) return !kSharded.in(of);
      const TensorShape matrix{.rows = 4096, .columns = 4096};
      const Recipe recipe = make_recipe(of.job.communication.compressors.dp, {&matrix, 1},
                                        {.ranks = 4, .nodes = 2}, 4);
      return std::ranges::any_of(recipe.steps,
                                 [](const RecipeStep& step) { return step.hop != ReduceHop::all; });
    },
    "compress"};
inline constexpr Feature kOneByteSteps = {
    "the compressor one-byte", kCompressor,
    [](const Asked& of) { return of.job.communication.compressors.dp.name == kOneByte; },
    "compress"};
inline constexpr Feature kCompressorOfGradients = {
    "a compressor other than one-byte", kCompressor,
    [](const Asked& of) {
      return kCompressed.in(of) && of.job.communication.compressors.dp.name != kOneByte;
    },
    "compress"};

// ---- Parts of a job.

inline constexpr Feature kIslands = {"islands of replicas", "sync",
                                     [](const Asked& of) { return !of.job.sync.empty(); }};
inline constexpr Feature kWideIslands = {
    "islands of several replicas", "sync",
    [](const Asked& of) { return kIslands.in(of) && of.job.layout.island_replicas() > 1; }};
inline constexpr Feature kPaths = {"paths of modules", "sync", [](const Asked& of) {
                                     return !of.job.layout.path_modules.empty();
                                   }};
inline constexpr Feature kIslandLevels = {"islands of islands", "sync",
                                          [](const Asked& of) { return of.job.sync.size() > 1; }};
inline constexpr Feature kDriftingIslands = {
    "islands with jitter that do not all wait for each other", "sync", [](const Asked& of) {
      return of.job.cluster.jitter.active() && !std::ranges::all_of(of.job.sync, waits_for_all);
    }};
inline constexpr Feature kRedundancy = {
    "redundancy", "redundancy", [](const Asked& of) { return of.job.redundancy != nullptr; }};

inline constexpr Feature kOffload = {"offload", "offload",
                                     [](const Asked& of) { return of.offload.any(); }};
inline constexpr Feature kOffloadChunks = {"offload in chunks", "offload", [](const Asked& of) {
                                             return kOffload.in(of) && of.offload.in_chunks();
                                           }};
inline constexpr Feature kWeightsAway = {"weights outside the GPU", "offload", [](const Asked& of) {
                                           return is_away(of.offload.weights);
                                         }};
inline constexpr Feature kGradientsAway = {
    "gradients outside the GPU", "offload",
    [](const Asked& of) { return is_away(of.offload.gradients); }};
inline constexpr Feature kGradientsInChunks = {
    "gradients in chunks", "offload",
    [](const Asked& of) { return kOffloadChunks.in(of) && kGradientsAway.in(of); }};
inline constexpr Feature kPassesAway = {
    "gradients or weights outside the GPU", "offload",
    [](const Asked& of) { return kGradientsAway.in(of) || kWeightsAway.in(of); }};
inline constexpr Feature kOptimizerStays = {
    "an optimizer on the GPU", "offload.optimizer",
    [](const Asked& of) { return !of.offload.updates_on_host(); }};
inline constexpr Feature kOptimizerAway = {
    "an optimizer outside the GPU", "offload.optimizer",
    [](const Asked& of) { return of.offload.updates_on_host(); }};
inline constexpr Feature kSummedOnce = {
    "replicas without zero2 or zero3", "layout.sharding",
    [](const Asked& of) { return of.job.layout.island_replicas() > 1 && !kZero2.in(of); }};
inline constexpr Feature kWholeWeights = {
    "replicas without zero3", "layout.sharding",
    [](const Asked& of) { return of.job.layout.island_replicas() > 1 && !kZero3.in(of); }};
inline constexpr Feature kActivationsAway = {
    "activations outside the GPU", "offload",
    [](const Asked& of) { return is_away(of.offload.activations); }};
inline constexpr Feature kActivationsUnfound = {
    "activations outside the GPU that no search chose", "offload",
    [](const Asked& of) { return kActivationsAway.in(of) && of.offload.layers.empty(); }};
inline constexpr Feature kActivationsMove = {
    "activations outside the GPU", "offload.activations",
    [](const Asked& of) { return of.offload.activations != MemoryTier::gpu; }};
inline constexpr Feature kWeightsMove = {
    "weights outside the GPU", "offload.weights",
    [](const Asked& of) { return of.offload.weights != MemoryTier::gpu; }};
inline constexpr Feature kGradientsMove = {
    "gradients outside the GPU", "offload.gradients",
    [](const Asked& of) { return of.offload.gradients != MemoryTier::gpu; }};

inline constexpr Feature kTraining = {
    "train", "train", [](const Asked& of) {
      return states(of, "train") || (of.job.training != nullptr && !kOneByteSteps.in(of));
    }};
inline constexpr Feature kTrainedParts = {
    "training of parts", "train", [](const Asked& of) { return of.job.training != nullptr; }};
inline constexpr Feature kAdapter = {"adapters", "train.adapter", [](const Asked& of) {
                                       return of.job.training != nullptr &&
                                              of.job.training->adapter.kind != AdapterKind::none;
                                     }};
inline constexpr Feature kZerothOrder = {
    "steps without a backward pass", "train.method",
    [](const Asked& of) { return is_zeroth_order(of.job.training.get()); }};
inline constexpr Feature kFrozenParts = {
    "frozen parts or adapters without zero3", "train", [](const Asked& of) {
      const Training* training = of.job.training.get();
      if (training == nullptr || kZero3.in(of)) return false;
      return training->adapter.kind != AdapterKind::none || training->frozen_embedding ||
             training->frozen_head || !training->frozen_layers.empty();
    }};
inline constexpr Feature kLoss = {"a stated loss", "train.loss",
                                  [](const Asked& of) { return states(of, "train.loss"); }};
inline constexpr Feature kContrastive = {
    "a contrastive loss", "train.loss.kind",
    [](const Asked& of) { return is_contrastive(of.job.training.get()); }};

// ---- Features outside the step. A job holds them only in part.

inline constexpr Feature kFilling = {"filling", "filling", [](const Asked& of) {
                                       return of.job.filling != nullptr || states(of, "filling");
                                     }};
inline constexpr Feature kInput = {"loading of samples", "input", [](const Asked& of) {
                                     return of.job.input != nullptr || states(of, "input");
                                   }};
inline constexpr Feature kRollout = {"engines that write samples", "rollout",
                                     [](const Asked& of) { return states(of, "rollout"); }};
inline constexpr Feature kVolunteers = {"volunteers", "volunteers",
                                        [](const Asked& of) { return states(of, "volunteers"); }};
inline constexpr Feature kFusedJobs = {"fused jobs", "fuse",
                                       [](const Asked& of) { return states(of, "fuse"); }};

// ---- Generated schedules.

inline constexpr Feature kPlacedRecompute = {
    "a schedule that places recomputation", "schedule",
    [](const Asked& of) { return of.schedule != nullptr && of.schedule->explicit_recompute; }};
inline constexpr Feature kRecomputeShare = {
    "a share of recomputation", "schedule.recompute_share",
    [](const Asked& of) { return of.job.schedule.recompute_share != 1; }};
inline constexpr Feature kWeightVersions = {
    "a schedule with versions of the weights", "schedule",
    [](const Asked& of) { return of.schedule != nullptr && !of.schedule->weight_copies.empty(); }};
inline constexpr Feature kOwnGathers = {
    "a schedule that gathers and reduces stages", "schedule", [](const Asked& of) {
      return has_action(of.schedule, ActionKind::unshard, ActionKind::reduce_grad);
    }};
inline constexpr Feature kCutSequences = {
    "a schedule of slices", "schedule.slices",
    [](const Asked& of) { return of.schedule != nullptr && of.schedule->slices != 1; }};
inline constexpr Feature kNeighboursTogether = {
    "neighbouring stages on one pipeline rank", "schedule", [](const Asked& of) {
      return of.schedule != nullptr && stage_beside_its_neighbour(*of.schedule) > 0;
    }};

}  // namespace windtunnel::features
