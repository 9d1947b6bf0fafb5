#include "models/chunk_cost.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "models/collective.hpp"
#include "models/job_collective.hpp"
#include "models/memory.hpp"
#include "models/op.hpp"
#include "models/op_cost.hpp"
#include "models/parallel_groups.hpp"

namespace windtunnel {
namespace {

void add(std::vector<CostPart>& parts, Category category, Origin origin, double seconds) {
  if (seconds <= 0) return;
  for (CostPart& part : parts) {
    if (part.category == category && part.origin == origin) {
      part.seconds += seconds;
      return;
    }
  }
  parts.push_back({category, origin, seconds});
}

void add_times(std::vector<CostPart>& parts, const std::vector<CostPart>& more, double times) {
  for (const CostPart& part : more) {
    add(parts, part.category, part.origin, times * part.seconds);
  }
}

double convention_flops(const Op& op) {
  const bool causal_half =
      op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward;
  return causal_half ? 2 * op.flops : op.flops;
}

// The cost of one layer, embedding or head.
struct BlockCost {
  std::vector<CostPart> forward;
  std::vector<CostPart> backward_input;
  std::vector<CostPart> backward_weight;
  std::vector<CostPart> recompute;
  double hardware_flops = 0;
};

// The ops of a block by pass.
struct PassOps {
  std::vector<Op> forward;
  std::vector<Op> backward_input;
  std::vector<Op> backward_weight;
};

// A GEMM whose input tp gathers.
struct ColumnParallel {
  std::string_view name;
  double width = 0;  // of the gathered input
};

// Attention or an MLP as tp divides it.
struct Half {
  std::vector<ColumnParallel> columns;
  std::string_view row_parallel;  // the GEMM whose output is summed over tp
};

Half attention_half(const TransformerSpec& model) {
  const LatentAttention& latent = model.latent;
  const double hidden = model.hidden;
  if (latent.kv_rank == 0) return {{{"qkv", hidden}}, "projection"};
  const ColumnParallel keys{"kv up", static_cast<double>(latent.kv_rank + latent.rotary_width)};
  if (latent.query_rank == 0) return {{{"q", hidden}, keys}, "projection"};
  return {{{"q up", static_cast<double>(latent.query_rank)}, keys}, "projection"};
}

Half mlp_half(const TransformerSpec& model, Block block) {
  const double hidden = model.hidden;
  if (block == Block::layer) return {{{"up", hidden}}, "down"};
  return {{{"shared up", hidden}}, "shared down"};  // tp divides no other experts
}

class BlockCoster {
 public:
  BlockCoster(const Job& job, const SequenceSlice& slice)
      : job_(job),
        slice_(slice),
        model_(job.model),
        cluster_(job.cluster),
        layout_(job.layout),
        calibration_(job.calibration) {
    tp_shape_ = tensor_group_shape(layout_, cluster_);
    cp_shape_ = context_ring_shape(layout_, cluster_);
    if (model_.moe_layers() > 0) ep_shape_ = expert_group_shape(layout_, cluster_);
    rows_ = slice.share() * static_cast<double>(job.batch.micro) * job.batch.sequence / layout_.cp;
    launch_s_ = calibration_.host_launch_s.value;
    if (job.software.shared_cores && layout_.tp > 1 && layout_.pp > 1 && cluster_.nodes > 1) {
      launch_s_ *= 1 + calibration_.host_contention.value * layout_.tp;
    }
  }

  BlockCost layer(Block block) const {
    const PassOps ops = ops_of(block);
    BlockCost cost = compute(ops);
    add_half(attention_half(model_), ops, cost);
    if (block == Block::layer || model_.moe.shared_ffn > 0) {
      add_half(mlp_half(model_, block), ops, cost);
    }
    add_ring(ops, cost);
    if (block == Block::moe_layer) add_dispatch(ops, cost);
    const std::vector<Op> recomputed = recomputed_ops(job_, block, slice_);
    for (const Op& op : recomputed) {
      add_op(op, Category::recompute, cost.recompute);
      cost.hardware_flops += convention_flops(op);
    }
    if (job_.recompute == Recompute::full) {  // the collectives run again too
      for (const CostPart& part : cost.forward) {
        if (part.category != Category::forward) {
          add(cost.recompute, part.category, part.origin, part.seconds);
        }
      }
    }
    add_host(ops, recomputed, cost);
    return cost;
  }

  BlockCost embedding() const {
    const PassOps ops = ops_of(Block::embedding);
    BlockCost cost = compute(ops);
    add_reduction(model_.hidden, cost.forward);
    add_gather(activation_bytes(model_.hidden), cost.backward_weight);
    add_host(ops, {}, cost);
    return cost;
  }

  BlockCost head() const {
    const PassOps ops = ops_of(Block::head);
    BlockCost cost = compute(ops);
    add_gather(activation_bytes(model_.hidden), cost.forward);
    if (layout_.tp > 1) {
      // Maximum, predicted logit and sum of exponentials, one fp32 number per token each.
      const CollectiveCost small = collective(CollectiveKind::all_reduce, tp_shape_, 4 * rows_);
      add(cost.forward, Category::tp, small.origin, 3 * small.seconds);
    }
    add_column_parallel({"logits", static_cast<double>(model_.hidden)},
                        activation_bytes(model_.hidden), ops, cost.backward_input);
    add_host(ops, {}, cost);
    return cost;
  }

 private:
  struct Launched {
    double launches = 1;
    double gpu_s = 0;
  };
  // What the host adds in one direction: `launched` are the kernels that it launches one after the
  // other, collectives among them. With a queue that never empties the GPU waits only
  // where the host takes longer for all of them than it does; without one, for every kernel that is
  // shorter than its launch. Frameworks are in between: between blocks they synchronise (loss,
  // pipeline messages, gradient hooks).
  double host_wait_s(const std::vector<Launched>& launched) const {
    double ahead_s = 0;
    double each_s = 0;
    for (const Launched& it : launched) {
      const double wait_s = it.launches * launch_s_ - it.gpu_s;
      ahead_s += wait_s;
      each_s += std::max(0.0, wait_s);
    }
    ahead_s = std::max(0.0, ahead_s);
    return each_s + calibration_.host_run_ahead.value * (ahead_s - each_s);
  }

  void add_host(const PassOps& ops, const std::vector<Op>& recomputed, BlockCost& cost) const {
    if (job_.software.cuda_graphs) return;
    std::vector<Launched> forward;
    std::vector<Launched> backward;
    add_launched(ops.forward, forward);
    for (const auto* list : {&recomputed, &ops.backward_input, &ops.backward_weight}) {
      add_launched(*list, backward);
    }
    const Origin origin = calibration_.host_launch_s.origin;
    const double exposed_forward_s = exposed_s(cost.forward) / kCollectives;
    const double exposed_backward_s = exposed_s(cost.backward_input) / kCollectives;
    if (exposed_forward_s > 0) forward.insert(forward.end(), kCollectives, {1, exposed_forward_s});
    if (exposed_backward_s > 0) {
      backward.insert(backward.end(), kCollectives, {1, exposed_backward_s});
    }
    add(cost.forward, Category::host, origin, host_wait_s(forward));
    add(cost.backward_input, Category::host, origin, host_wait_s(backward));
  }

  void add_launched(const std::vector<Op>& pass, std::vector<Launched>& launched) const {
    for (const Op& op : pass) {
      const bool graphed = job_.software.dense_graphs && !op.routed;
      launched.push_back({graphed ? 0 : op.launches, cost_of(op).seconds});
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

  PassOps ops_of(Block block) const {
    return {block_ops(job_, block, Pass::forward, slice_),
            block_ops(job_, block, Pass::backward_input, slice_),
            block_ops(job_, block, Pass::backward_weight, slice_)};
  }

  OpCost cost_of(const Op& op) const {
    return op_cost(op, cluster_.node.gpu, job_.precision, calibration_);
  }

  void add_op(const Op& op, Category category, std::vector<CostPart>& parts) const {
    const OpCost cost = cost_of(op);
    add(parts, category, cost.origin, cost.seconds);
  }

  BlockCost compute(const PassOps& ops) const {
    BlockCost cost;
    const auto add_pass = [&](const std::vector<Op>& pass, Category category,
                              std::vector<CostPart>& parts) {
      for (const Op& op : pass) {
        add_op(op, category, parts);
        cost.hardware_flops += convention_flops(op);
      }
    };
    add_pass(ops.forward, Category::forward, cost.forward);
    add_pass(ops.backward_input, Category::backward, cost.backward_input);
    add_pass(ops.backward_weight, Category::backward, cost.backward_weight);
    return cost;
  }

  CollectiveCost collective(CollectiveKind kind, const GroupShape& shape, double bytes) const {
    return collective_cost(job_, kind, shape, bytes);
  }

  // Of all rows of this GPU's micro-batch, at this width.
  double activation_bytes(double width) const { return bytes_of(job_.precision) * rows_ * width; }
  double operand_bytes(double width) const { return gemm_bytes_of(job_.precision) * rows_ * width; }

  // Sums partial results over tp: to every rank, or to each its part of the sequence.
  CollectiveCost reduction(double width) const {
    return collective(
        layout_.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
        tp_shape_, activation_bytes(width));
  }

  void add_reduction(double width, std::vector<CostPart>& parts, double hidden_s = 0) const {
    if (layout_.tp == 1) return;
    const CollectiveCost cost = reduction(width);
    add(parts, Category::tp, cost.origin, cost.seconds - hidden_s);
  }

  void add_gather(double bytes, std::vector<CostPart>& parts, double hidden_s = 0) const {
    if (layout_.tp == 1 || !layout_.sequence_parallel) return;
    const CollectiveCost cost = collective(CollectiveKind::all_gather, tp_shape_, bytes);
    add(parts, Category::tp, cost.origin, cost.seconds - hidden_s);
  }

  // What tp_overlap hides of a collective behind this GEMM: both are cut into tp pieces, of which
  // one waits for the other.
  double pipelined_s(const std::vector<Op>& pass, std::string_view name) const {
    if (!job_.software.tp_overlap || !layout_.sequence_parallel) return 0;
    return cost_of(op_named(pass, name)).seconds * (layout_.tp - 1) / layout_.tp;
  }

  void add_half(const Half& half, const PassOps& ops, BlockCost& cost) const {
    if (layout_.tp == 1) return;
    add_reduction(model_.hidden, cost.forward, pipelined_s(ops.forward, half.row_parallel));
    // Of the row-parallel layer's output gradient.
    add_gather(operand_bytes(model_.hidden), cost.backward_input,
               pipelined_s(ops.backward_input, half.row_parallel));
    for (const ColumnParallel& column : half.columns) {
      add_gather(operand_bytes(column.width), cost.forward, pipelined_s(ops.forward, column.name));
      add_column_parallel(column, operand_bytes(column.width), ops, cost.backward_input);
    }
  }

  // Backward of a column-parallel layer: its input is gathered again beside the input gradient's
  // GEMM, and the input gradient is reduced beside the weight gradient's GEMM.
  void add_column_parallel(const ColumnParallel& column, double input_bytes, const PassOps& ops,
                           std::vector<CostPart>& parts) const {
    if (layout_.tp == 1) return;
    add_gather(input_bytes, parts, cost_of(op_named(ops.backward_input, column.name)).seconds);
    add_reduction(column.width, parts, cost_of(op_named(ops.backward_weight, column.name)).seconds);
  }

  // Step by step a rank passes on the K and V that it has just used (backward: and their
  // gradients), beside the attention over them; the last step passes nothing on.
  void add_ring(const PassOps& ops, BlockCost& cost) const {
    if (layout_.cp == 1) return;
    const double width = model_.latent.kv_rank > 0 ? model_.q_width() + model_.context_width()
                                                   : 2.0 * model_.kv_width();
    // Of the keys up to the slice's end.
    const double bytes =
        activation_bytes(layout_.cp * width / layout_.tp) * slice_.end / slice_.share();
    const auto add_exposed = [&](const std::vector<Op>& pass, double times,
                                 std::vector<CostPart>& parts) {
      double attention_s = 0;
      for (const Op& op : pass) {
        if (op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward) {
          attention_s += cost_of(op).seconds;
        }
      }
      const CollectiveCost ring =
          collective_cost(CollectiveKind::all_gather, CollectiveAlgorithm::ring, cp_shape_,
                          times * bytes, cluster_, calibration_);
      const double beside_s = attention_s * (layout_.cp - 1) / layout_.cp;
      add(parts, Category::cp, ring.origin, ring.seconds - beside_s);
    };
    add_exposed(ops.forward, 1, cost.forward);
    add_exposed(ops.backward_input, 2, cost.backward_input);
  }

  // Copies of a token that leave its rank or stay there as if sent. Merged: as many as different
  // nodes (in one node: ranks) are met in per_token draws, all equally likely.
  double copies() const {
    const double experts = model_.moe.per_token;
    if (!job_.software.ep_merged) return experts;
    const double places = ep_shape_.nodes > 1 ? ep_shape_.nodes : ep_shape_.members;
    return places * (1 - std::pow(1 - 1 / places, experts));
  }

  // Every token to its experts and back, by the busiest rank's count.
  void add_dispatch(const PassOps& ops, BlockCost& cost) const {
    if (layout_.ep == 1) return;
    const double width = copies() * model_.moe.imbalance * model_.hidden / layout_.tp;
    const CollectiveCost once =
        collective(CollectiveKind::all_to_all, ep_shape_, activation_bytes(width));
    double forward_s = 0;
    double backward_s = 0;
    if (job_.software.ep_overlap) {  // crosswise: forward of one beside backward of the other
      forward_s = total_seconds(cost.backward_input) + total_seconds(cost.backward_weight);
      backward_s = total_seconds(cost.forward);
    } else if (job_.software.tp_overlap) {
      forward_s = shared_s(ops.forward);
      backward_s = shared_s(ops.backward_input);
    }
    add(cost.forward, Category::ep, once.origin, beside_s(2 * once.seconds, forward_s));
    add(cost.backward_input, Category::ep, once.origin, beside_s(2 * once.seconds, backward_s));
  }

  // What a collective beside compute adds to it: the part that sticks out, and what it slows.
  double beside_s(double collective_s, double compute_s) const {
    const double slowdown = calibration_.overlap_slowdown.value;
    const double hidden_s = std::min(collective_s, (1 + slowdown) * compute_s);
    return collective_s - hidden_s + hidden_s * slowdown / (1 + slowdown);
  }

  double shared_s(const std::vector<Op>& pass) const {
    double seconds = 0;
    for (const Op& op : pass) seconds += op.name.starts_with("shared") ? cost_of(op).seconds : 0;
    return seconds;
  }

  const Job& job_;
  const SequenceSlice slice_;
  const TransformerSpec& model_;
  const Cluster& cluster_;
  const Layout& layout_;
  const Calibration& calibration_;
  GroupShape tp_shape_;
  GroupShape cp_shape_;
  GroupShape ep_shape_;
  double rows_ = 0;      // tokens of a micro-batch on this GPU
  double launch_s_ = 0;  // of the host, per operation
};

void add_block(ChunkCost& chunk, const BlockCost& block, double times) {
  add_times(chunk.forward, block.forward, times);
  add_times(chunk.backward_input, block.backward_input, times);
  add_times(chunk.backward_weight, block.backward_weight, times);
  add_times(chunk.recompute, block.recompute, times);
  chunk.hardware_flops += times * block.hardware_flops;
}

// A dense layer, or one with experts.
struct LayerKind {
  Block block = Block::layer;
  BlockCost cost;
  LayerActivations activations;
};

std::vector<LayerKind> layer_kinds(const Job& job, const SequenceSlice& slice) {
  const BlockCoster coster(job, slice);
  const int moe_layers = job.model.moe_layers();
  std::vector<LayerKind> kinds;
  for (const Block block : {Block::layer, Block::moe_layer}) {
    const int count = block == Block::layer ? job.model.layers - moe_layers : moe_layers;
    if (count == 0) continue;
    kinds.push_back({block, coster.layer(block), layer_activations(job, block, slice)});
  }
  return kinds;
}

void add_layers(ChunkCost& chunk, const LayerKind& kind, int count, bool recomputes_ahead) {
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
  LayerKind recomputing;
  LayerKind keeping;  // the same where nothing is recomputed
};

std::vector<SharedKind> shared_kinds(const Job& job, const ChunkUnit& unit) {
  const std::vector<LayerKind> recomputing = layer_kinds(job, unit.slice);
  std::vector<LayerKind> keeping = recomputing;
  if (!unit.recompute_shares.empty() && job.recompute != Recompute::none) {
    Job without = job;
    without.recompute = Recompute::none;
    keeping = layer_kinds(without, unit.slice);
  }
  std::vector<SharedKind> kinds;
  for (std::size_t i = 0; i < recomputing.size(); ++i)
    kinds.push_back({recomputing[i], keeping[i]});
  return kinds;
}

}  // namespace

std::vector<ChunkCost> chunk_costs(const Job& job, const ChunkUnit& unit) {
  const TransformerSpec& model = job.model;
  const BlockCoster coster(job, unit.slice);
  const std::vector<SharedKind> kinds = shared_kinds(job, unit);
  const std::vector<int> layers = layers_per_stage(model, job.layout);
  const std::vector<double> parameters = stage_parameters(model, job.layout);
  const double local_experts = static_cast<double>(model.moe.experts) / job.layout.ep;
  std::vector<ChunkCost> chunks(layers.size());
  const std::vector<int> moe_layers = moe_layers_per_stage(model, job.layout);
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    ChunkCost& chunk = chunks[stage];
    const int moe = moe_layers[stage];
    const double share = unit.recompute_shares.empty() ? 1 : unit.recompute_shares[stage];
    for (const SharedKind& kind : kinds) {
      const int count = kind.keeping.block == Block::moe_layer ? moe : layers[stage] - moe;
      const int recomputing = static_cast<int>(std::lround(share * count));
      add_layers(chunk, kind.recomputing, recomputing, unit.recomputes_ahead);
      add_layers(chunk, kind.keeping, count - recomputing, unit.recomputes_ahead);
    }
    chunk.parameters = parameters[stage];
    chunk.expert_parameters = moe * local_experts * model.expert_parameters();
    chunk.boundary_bytes = unit.slice.share() * boundary_bytes(job);
  }
  add_block(chunks.front(), coster.embedding(), 1);
  add_block(chunks.back(), coster.head(), 1);
  const LayerActivations head = head_activations(job, unit.slice);
  chunks.back().activation_bytes += head.kept;
  chunks.back().weight_activation_bytes += head.for_weights;
  chunks.back().transient_bytes = std::max(chunks.back().transient_bytes, head.transient);
  const double pending = pending_gradient_bytes(job, unit.slice);
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    chunks[stage].transient_bytes += layers[stage] * pending;
  }
  return chunks;
}

std::vector<CostPart> optimizer_cost(double parameters, const GpuSpec& gpu,
                                     const Calibration& calibration) {
  Op step;
  step.name = "optimizer";
  step.kind = OpKind::memory;
  step.bytes = parameters * calibration.optimizer_bytes.value;
  // A memory-bound op does not depend on the precision.
  const OpCost cost = op_cost(step, gpu, Precision::fp32, calibration);
  return {{Category::optimizer, weakest(cost.origin, calibration.optimizer_bytes.origin),
           cost.seconds}};
}

}  // namespace windtunnel
