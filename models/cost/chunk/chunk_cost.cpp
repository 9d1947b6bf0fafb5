#include "models/cost/chunk/chunk_cost.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/cost/chunk/activations.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/cost/context/context_parallel.hpp"
#include "models/cost/expert/expert_parallel.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/cost/op/block_cost.hpp"
#include "models/cost/op/host_launch.hpp"
#include "models/cost/op/op.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/cost/tensor/tensor_mesh.hpp"
#include "models/cost/tensor/tensor_ops.hpp"
#include "models/cost/tensor/tensor_parallel.hpp"
#include "models/network/groups/parallel_groups.hpp"
#include "models/workload/stage_parameters.hpp"

namespace windtunnel {
namespace {

// As model_flops() counts: the whole square of queries and keys, of which fused attention computes
// the half that a causal mask leaves, and the products of a slice what lies before its end.
double convention_flops(const Op& op, const TransformerSpec& model, const SequenceSlice& slice) {
  if (model.frames > 0) return op.flops;
  const bool fused = op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward;
  if (fused) return 2 * op.flops;
  const bool product =
      op.kind == OpKind::attention_gemm && model.attention == AttentionKernel::unfused;
  return product ? op.flops / slice.end : op.flops;
}

class BlockCoster {
 public:
  explicit BlockCoster(const Job& job, const ChunkUnit& unit = {})
      : job_(job), setting_(job, unit.slice, unit.fused) {
    if (job.layout.mesh_side() > 1) {
      mesh_shapes_ = tensor_mesh_shapes(job.layout, job.cluster);
    } else {
      tp_shape_ = tensor_group_shape(job.layout, job.cluster);
    }
    cp_shapes_ = {context_ring_shape(job.layout, job.cluster),
                  context_exchange_shape(job.layout, job.cluster)};
    if (job.model.moe_layers() > 0) ep_shape_ = expert_group_shape(job.layout, job.cluster);
    launch_s_ = job.calibration.host_launch_s.value;
    if (job.software.shared_cores && job.layout.tp > 1 && job.layout.pp > 1 &&
        job.cluster.nodes > 1) {
      launch_s_ *= 1 + job.calibration.host_contention.value * job.layout.tp;
    }
  }

  BlockCost layer(Block block) const {
    const PassOps ops = tensor_parallel_ops(job_, block, setting_.slice);
    BlockCost cost = compute(ops);
    add_tensor(block, ops, cost);
    add_context_parallel(setting_, cp_shapes_, ops, cost);
    if (block == Block::moe_layer) add_expert_parallel(setting_, ep_shape_, tp_shape_, ops, cost);
    const std::vector<Op> recomputed = tensor_parallel_recomputed(job_, block, setting_.slice);
    for (const Op& op : recomputed) {
      add_op(op, Category::recompute, cost.recompute);
      cost.hardware_flops += convention_flops(op, job_.model, setting_.slice);
    }
    if (job_.recompute == Recompute::full) {  // the collectives run again too
      for (const CostPart& part : cost.forward) {
        if (part.category != Category::forward) {
          add_cost(cost.recompute, part.category, part.origin, part.seconds);
        }
      }
      add_costs(cost.recompute, cost.forward_end, 1);  // its own backward follows, no next layer
      for (InnerRound round : cost.rounds.forward) {
        if (round.into_next_layer) round.beside_s = 0;
        cost.rounds.recompute.push_back(std::move(round));
      }
    }
    add_host(ops, recomputed, cost);
    return cost;
  }

  // The embedding or the loss head.
  BlockCost end(Block block) const {
    const PassOps ops = tensor_parallel_ops(job_, block, setting_.slice);
    BlockCost cost = compute(ops);
    add_tensor(block, ops, cost);
    add_host(ops, {}, cost);
    return cost;
  }

  // Of a stage what arrives in parts is gathered: its input, and backward the gradient of its
  // output.
  BlockCost gathered(const BoundaryRecipe& cut, bool first, bool last) const {
    BlockCost cost;
    if (boundary_parts(job_) == 1) return cost;
    const InnerCollective gather =
        setting_.collective(InnerGroup::tensor, CollectiveKind::all_gather, tp_shape_, cut.bytes);
    const InnerRound round = {
        .category = Category::tp, .origin = gather.origin, .collectives = {gather}};
    if (!first) cost.of_forward().add(round);
    if (!last) cost.of_backward_input().add(round);
    return cost;
  }

 private:
  void add_tensor(Block block, const PassOps& ops, BlockCost& cost) const {
    if (job_.layout.mesh_side() > 1)
      return add_tensor_mesh(setting_, mesh_shapes_, block, ops, cost);
    add_tensor_parallel(setting_, tp_shape_, block, ops, cost);
  }

  void add_host(const PassOps& ops, const std::vector<Op>& recomputed, BlockCost& cost) const {
    if (job_.software.cuda_graphs) return;
    std::vector<Launched> forward = launched({&ops.forward}, exposed_s(cost.forward));
    std::vector<Launched> input =
        launched({&recomputed, &ops.backward_input}, exposed_s(cost.backward_input));
    std::vector<Launched> weight = launched({&ops.backward_weight}, 0);
    const double input_s = wait_s(input);
    const double weight_s = wait_s(weight);
    input.insert(input.end(), weight.begin(), weight.end());
    // The host runs ahead from one half of the backward pass into the other, so both wait for less
    // than each would by itself; where a schedule takes them apart, each keeps its share.
    const double kept = input_s + weight_s > 0 ? wait_s(input) / (input_s + weight_s) : 0;
    const Origin origin = job_.calibration.host_launch_s.origin;
    add_cost(cost.forward, Category::host, origin, wait_s(forward));
    add_cost(cost.backward_input, Category::host, origin, kept * input_s);
    add_cost(cost.backward_weight, Category::host, origin, kept * weight_s);
  }

  double wait_s(const std::vector<Launched>& launched) const {
    return host_wait_s(launched, launch_s_, job_.calibration.host_run_ahead.value);
  }

  // The operations of these passes, and the collectives among them that take `exposed_s` more.
  std::vector<Launched> launched(std::initializer_list<const std::vector<Op>*> passes,
                                 double exposed_s) const {
    std::vector<Launched> all;
    for (const std::vector<Op>* pass : passes) add_launched(*pass, all);
    if (exposed_s > 0) all.insert(all.end(), kCollectives, {1, exposed_s / kCollectives});
    return all;
  }

  void add_launched(const std::vector<Op>& pass, std::vector<Launched>& launched) const {
    for (const Op& op : pass) {
      const bool graphed = job_.software.dense_graphs && !op.routed;
      launched.push_back({graphed ? 0 : op.launches, setting_.cost(op).seconds});
    }
  }

  // Collectives of a layer and direction, for the host's count.
  static constexpr int kCollectives = 2;

  static double exposed_s(const std::vector<CostPart>& parts) {
    double seconds = 0;
    for (const CostPart& part : parts) {
      const bool compute =
          part.category == Category::forward || part.category == Category::backward;
      seconds += compute ? 0 : part.seconds;
    }
    return seconds;
  }

  void add_op(const Op& op, Category category, std::vector<CostPart>& parts) const {
    const OpCost cost = setting_.cost(op);
    add_cost(parts, category, cost.origin, cost.seconds);
  }

  BlockCost compute(const PassOps& ops) const {
    BlockCost cost;
    const auto add_pass = [&](const std::vector<Op>& pass, Category category,
                              std::vector<CostPart>& parts) {
      for (const Op& op : pass) {
        add_op(op, category, parts);
        cost.hardware_flops += convention_flops(op, job_.model, setting_.slice);
      }
    };
    add_pass(ops.forward, Category::forward, cost.forward);
    add_pass(ops.backward_input, Category::backward, cost.backward_input);
    add_pass(ops.backward_weight, Category::backward, cost.backward_weight);
    return cost;
  }

  const Job& job_;
  BlockSetting setting_;
  GroupShape tp_shape_;
  MeshShapes mesh_shapes_;
  ContextShapes cp_shapes_;
  GroupShape ep_shape_;
  double launch_s_ = 0;  // of the host, per operation
};

void add_block(ChunkCost& chunk, const BlockCost& block, double times) {
  add_costs(chunk.forward, block.forward, times);
  add_costs(chunk.backward_input, block.backward_input, times);
  add_costs(chunk.backward_weight, block.backward_weight, times);
  add_costs(chunk.recompute, block.recompute, times);
  chunk.hardware_flops += times * block.hardware_flops;
}

// What the ends of a chunk add to its layers.
void add_ends(ChunkCost& chunk, const BlockCost& first, const BlockCost& last) {
  add_costs(chunk.forward, last.forward_end, 1);
  add_costs(chunk.backward_input, first.backward_end, 1);
}

// A dense layer, or one with experts: any of them, or where each has loads of its own this one.
struct LayerForm {
  Block block = Block::layer;
  int layer = kAny;  // of those with experts
  static constexpr int kAny = -1;
  BlockCost cost;
  LayerActivations activations;
};

std::vector<LayerForm> layer_kinds(const Job& job, const ChunkUnit& unit) {
  const BlockCoster coster(job, unit);
  const SequenceSlice& slice = unit.slice;
  const int moe_layers = job.model.moe_layers();
  std::vector<LayerForm> kinds;
  for (const Block block : {Block::layer, Block::moe_layer}) {
    const int count = block == Block::layer ? job.model.layers - moe_layers : moe_layers;
    if (count == 0) continue;
    if (block == Block::moe_layer && job.model.draws_by_layer()) break;
    kinds.push_back(
        {block, LayerForm::kAny, coster.layer(block), layer_activations(job, block, slice)});
  }
  if (!job.model.draws_by_layer()) return kinds;
  Job drawn = job;
  for (int& layer = drawn.model.moe.layer; layer < moe_layers; ++layer) {
    kinds.push_back({Block::moe_layer, layer, BlockCoster(drawn, unit).layer(Block::moe_layer),
                     layer_activations(drawn, Block::moe_layer, slice)});
  }
  return kinds;
}

void add_layers(ChunkCost& chunk, const LayerForm& kind, int count, bool recomputes_ahead) {
  if (count == 0) return;
  const LayerActivations& bytes = kind.activations;
  add_block(chunk, kind.cost, count);
  chunk.activation_bytes += count * bytes.kept;
  chunk.recomputed_bytes += count * bytes.recomputed;
  chunk.weight_activation_bytes += count * bytes.for_weights;
  chunk.transient_bytes =
      std::max(chunk.transient_bytes, bytes.transient - (recomputes_ahead ? bytes.recomputed : 0));
}

// Layers of one kind, of which a share recomputes.
struct SharedKind {
  LayerForm recomputing;
  LayerForm keeping;  // the same where nothing is recomputed
};

std::vector<SharedKind> shared_kinds(const Job& job, const ChunkUnit& unit) {
  const std::vector<LayerForm> recomputing = layer_kinds(job, unit);
  std::vector<LayerForm> keeping = recomputing;
  if (!unit.recompute_shares.empty() && job.recompute != Recompute::none) {
    Job without = job;
    without.recompute = Recompute::none;
    keeping = layer_kinds(without, unit);
  }
  std::vector<SharedKind> kinds;
  for (std::size_t i = 0; i < recomputing.size(); ++i)
    kinds.push_back({recomputing[i], keeping[i]});
  return kinds;
}

// The products at the cuts before and behind a stage; backward those of the gradients.
void add_cuts(const Job& job, const BoundaryRecipe& cut, bool first, bool last, ChunkCost& chunk) {
  const auto add = [&](const std::vector<Op>& ops, std::vector<CostPart>& parts) {
    for (const Op& op : ops) {
      const OpCost cost = op_cost(op, job.cluster.node.gpu, job.precision, job.calibration);
      add_cost(parts, Category::compression, cost.origin, cost.seconds);
      chunk.hardware_flops += op.flops;
    }
  };
  if (!first) {
    add(cut.behind, chunk.forward);
    add(cut.before, chunk.backward_input);
  }
  if (!last) {
    add(cut.before, chunk.forward);
    add(cut.behind, chunk.backward_input);
  }
}

// Layers of a kind that recompute in a stage, and those that do not.
struct LayerCounts {
  int recomputing = 0;
  int keeping = 0;
};

// Of a stage; behind `moe_before` with experts.
struct StageLayers {
  int all = 0;
  int moe = 0;
  int moe_before = 0;
};

std::vector<StageLayers> stage_layers(const Job& job) {
  const std::vector<int> layers = layers_per_stage(job.model, job.layout);
  const std::vector<int> moe_layers = moe_layers_per_stage(job.model, job.layout);
  std::vector<StageLayers> stages;
  int before = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    stages.push_back({layers[stage], moe_layers[stage], before});
    before += moe_layers[stage];
  }
  return stages;
}

LayerCounts layer_counts(const SharedKind& kind, const StageLayers& of, double share) {
  const int count = kind.keeping.block == Block::moe_layer ? of.moe : of.all - of.moe;
  const int recomputing = static_cast<int>(std::lround(share * count));
  if (kind.keeping.layer == LayerForm::kAny) return {recomputing, count - recomputing};
  const int place = kind.keeping.layer - of.moe_before;  // those that recompute come first
  if (place < 0 || place >= of.moe) return {};
  return place < recomputing ? LayerCounts{1, 0} : LayerCounts{0, 1};
}

double recompute_share_of(const ChunkUnit& unit, std::size_t stage) {
  return unit.recompute_shares.empty() ? 1 : unit.recompute_shares[stage];
}

// Of the layers' activations what leaves the GPU between forward and backward. Two layers' are
// there for a moment: one that a pass works on, and one on its way.
void offload_activations(const Job& job, int layers, ChunkCost& chunk) {
  const int away = offloaded_layers(offload_of(job), layers);
  if (away == 0) return;
  const double of_layer = chunk.activation_bytes / layers;
  chunk.offloaded_bytes = away * of_layer;
  chunk.activation_bytes -= chunk.offloaded_bytes;
  chunk.transient_bytes += std::min(away, 2) * of_layer;
}

// What fused models hold, send and compute together; their kernels' seconds are counted already.
void multiply_amounts(ChunkCost& chunk, int fused) {
  for (double ChunkCost::*amount :
       {&ChunkCost::parameters, &ChunkCost::expert_parameters, &ChunkCost::activation_bytes,
        &ChunkCost::offloaded_bytes, &ChunkCost::weight_activation_bytes,
        &ChunkCost::transient_bytes, &ChunkCost::recomputed_bytes, &ChunkCost::boundary_bytes,
        &ChunkCost::hardware_flops}) {
    chunk.*amount *= fused;
  }
}

}  // namespace

std::vector<ChunkCost> chunk_costs(const Job& job, const ChunkUnit& unit) {
  if (job.network) {
    std::vector<ChunkCost> chunks = network_chunk_costs(job, unit);
    multiply_amounts(chunks.front(), unit.fused);
    return chunks;
  }
  const TransformerSpec& model = job.model;
  const BlockCoster coster(job, unit);
  const std::vector<SharedKind> kinds = shared_kinds(job, unit);
  const std::vector<StageLayers> layers = stage_layers(job);
  const std::vector<double> parameters = stage_parameters(model, job.layout);
  const double local_experts = static_cast<double>(model.moe.experts) / job.layout.ep;
  const BoundaryRecipe cut = stage_boundary(job, unit.slice);
  std::vector<ChunkCost> chunks(layers.size());
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    ChunkCost& chunk = chunks[stage];
    const int moe = layers[stage].moe;
    for (const SharedKind& kind : kinds) {
      const LayerCounts count = layer_counts(kind, layers[stage], recompute_share_of(unit, stage));
      add_layers(chunk, kind.recomputing, count.recomputing, unit.recomputes_ahead);
      add_layers(chunk, kind.keeping, count.keeping, unit.recomputes_ahead);
    }
    offload_activations(job, layers[stage].all, chunk);
    if (layers[stage].all > 0) {  // the dense ones come first
      const bool all_dense = moe == 0;
      const bool all_moe = moe == layers[stage].all;
      add_ends(chunk, (all_moe ? kinds.back() : kinds.front()).keeping.cost,
               (all_dense ? kinds.front() : kinds.back()).keeping.cost);
    }
    chunk.parameters = parameters[stage];
    chunk.expert_parameters = moe * local_experts * model.expert_parameters();
    chunk.boundary_bytes = cut.bytes / boundary_parts(job);
    const bool last = stage + 1 == chunks.size();
    add_cuts(job, cut, stage == 0, last, chunk);
    add_block(chunk, coster.gathered(cut, stage == 0, last), 1);
    if (moe > 0) chunk.transient_bytes += hot_expert_bytes(job);
  }
  add_block(chunks.front(), coster.end(Block::embedding), 1);
  add_block(chunks.back(), coster.end(Block::head), 1);
  const LayerActivations head = head_activations(job, unit.slice);
  chunks.back().activation_bytes += head.kept;
  chunks.back().weight_activation_bytes += head.for_weights;
  chunks.back().transient_bytes = std::max(chunks.back().transient_bytes, head.transient);
  const double pending = pending_gradient_bytes(job, unit.slice);
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    chunks[stage].transient_bytes += layers[stage].all * pending;
  }
  for (ChunkCost& chunk : chunks) multiply_amounts(chunk, unit.fused);
  return chunks;
}

std::vector<ChunkRounds> chunk_rounds(const Job& job, const ChunkUnit& unit) {
  if (job.network) return std::vector<ChunkRounds>(1);
  const BlockCoster coster(job, unit);
  const std::vector<SharedKind> kinds = shared_kinds(job, unit);
  const std::vector<StageLayers> layers = stage_layers(job);
  std::vector<ChunkRounds> chunks(layers.size());
  const auto add = [](ChunkRounds& chunk, int count, const PassRounds& rounds) {
    if (count > 0) chunk.push_back({count, rounds});
  };
  add(chunks.front(), 1, coster.end(Block::embedding).rounds);
  const BoundaryRecipe cut = stage_boundary(job, unit.slice);
  const int cut_in_parts = boundary_parts(job) > 1 ? 1 : 0;
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    // What arrives forward comes before all layers, what arrives backward behind them.
    add(chunks[stage], cut_in_parts, coster.gathered(cut, stage == 0, true).rounds);
    for (const SharedKind& kind : kinds) {
      const LayerCounts count = layer_counts(kind, layers[stage], recompute_share_of(unit, stage));
      add(chunks[stage], count.recomputing, kind.recomputing.cost.rounds);
      add(chunks[stage], count.keeping, kind.keeping.cost.rounds);
    }
    add(chunks[stage], cut_in_parts, coster.gathered(cut, true, stage + 1 == chunks.size()).rounds);
  }
  add(chunks.back(), 1, coster.end(Block::head).rounds);
  return chunks;
}

std::vector<CostPart> optimizer_cost(double parameters, const Job& job) {
  const Calibration& calibration = job.calibration;
  const int missing = moments(Optimizer::adam) - moments(job.software.optimizer);
  Op step;
  step.name = "optimizer";
  step.kind = OpKind::memory;
  step.bytes = parameters * std::max(0.0, calibration.optimizer_bytes.value -
                                              missing * calibration.moment_bytes.value);
  // Momentum has no kernel of its own.
  if (job.software.optimizer == Optimizer::adam) step.kernel = "adam";
  if (job.software.optimizer == Optimizer::sgd) step.kernel = "sgd";
  // A memory-bound op does not depend on the precision.
  const OpCost cost = op_cost(step, job.cluster.node.gpu, Precision::fp32, calibration);
  Origin origin = weakest(cost.origin, calibration.optimizer_bytes.origin);
  if (missing > 0) origin = weakest(origin, calibration.moment_bytes.origin);
  return {{Category::optimizer, origin, cost.seconds}};
}

}  // namespace windtunnel
