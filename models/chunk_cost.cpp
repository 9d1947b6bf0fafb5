#include "models/chunk_cost.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "models/base/error.hpp"
#include "models/collective.hpp"
#include "models/memory.hpp"
#include "models/op.hpp"
#include "models/op_cost.hpp"

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

// Of all cp groups: every tp-th rank of tp * cp consecutive ones.
GroupShape worst_cp_shape(const Layout& layout, const Cluster& cluster) {
  if (layout.cp == 1) return {};
  CHECK(layout.ranks() <= cluster.gpus(), "{} ranks, {} GPUs", layout.ranks(), cluster.gpus());
  WorstShape worst(cluster);
  std::vector<std::int32_t> group(layout.cp);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const RankCoordinates at = coordinates_of(layout, rank);
    if (at.cp > 0) continue;
    for (int i = 0; i < layout.cp; ++i) group[i] = rank + i * layout.tp;
    worst.add(group);
  }
  return worst.shape();
}

class BlockCoster {
 public:
  explicit BlockCoster(const Job& job)
      : job_(job),
        model_(job.model),
        cluster_(job.cluster),
        layout_(job.layout),
        calibration_(job.calibration) {
    // Inside a node one tp group is like another (check_layout lets none straddle nodes).
    std::vector<std::int32_t> tp_group(layout_.tp);
    std::iota(tp_group.begin(), tp_group.end(), 0);
    tp_shape_ = group_shape(tp_group, cluster_);
    cp_shape_ = among_concurrent(worst_cp_shape(layout_, cluster_), cluster_.node);
    rows_ = static_cast<double>(job.batch.micro) * job.batch.sequence / layout_.cp;
    gathered_bytes_ = bytes_of(job.precision) * rows_ * model_.hidden;
  }

  BlockCost layer() const {
    BlockCost cost = compute(Block::layer);
    const std::vector<Op> inputs = ops(Block::layer, Pass::backward_input);
    const std::vector<Op> weights = ops(Block::layer, Pass::backward_weight);
    for (const char* column_parallel : {"qkv", "up"}) {
      add_reduction(cost.forward);
      add_gather(cost.forward);
      add_gather(cost.backward_input);  // of the row-parallel layer's output gradient
      add_column_parallel(op_named(inputs, column_parallel), op_named(weights, column_parallel),
                          cost.backward_input);
    }
    add_ring(cost);
    for (const Op& op : recomputed_ops(job_, Block::layer)) {
      add_op(op, Category::recompute, cost.recompute);
      cost.hardware_flops += convention_flops(op);
    }
    if (job_.recompute == Recompute::full) {  // the collectives run again too
      for (const CostPart& part : cost.forward) {
        if (part.category == Category::tp || part.category == Category::cp) {
          add(cost.recompute, part.category, part.origin, part.seconds);
        }
      }
    }
    count_launches(cost, Block::layer);
    return cost;
  }

  BlockCost embedding() const {
    BlockCost cost = compute(Block::embedding);
    add_reduction(cost.forward);
    add_gather(cost.backward_weight);
    count_launches(cost, Block::embedding);
    return cost;
  }

  BlockCost head() const {
    BlockCost cost = compute(Block::head);
    add_gather(cost.forward);
    if (layout_.tp > 1) {
      // Maximum, predicted logit and sum of exponentials, one fp32 number per token each.
      const CollectiveCost small = collective(CollectiveKind::all_reduce, tp_shape_, 4 * rows_);
      add(cost.forward, Category::tp, small.origin, 3 * small.seconds);
    }
    add_column_parallel(op_named(ops(Block::head, Pass::backward_input), "logits"),
                        op_named(ops(Block::head, Pass::backward_weight), "logits"),
                        cost.backward_input);
    count_launches(cost, Block::head);
    return cost;
  }

 private:
  // A GPU that is through with a block before the host has launched it waits. Whether the host runs
  // ahead is decided per block and direction: between them frameworks synchronise (loss, pipeline
  // messages, gradient hooks).
  void count_launches(BlockCost& cost, Block block) const {
    if (job_.software.cuda_graphs) return;
    const auto launches = [&](Pass pass) { return static_cast<double>(ops(block, pass).size()); };
    const double collectives = layout_.tp > 1 ? 2 : 0;
    wait_for_host(cost.forward, launches(Pass::forward) + collectives);
    double backward = launches(Pass::backward_input) + launches(Pass::backward_weight);
    double hidden_s = total_seconds(cost.backward_weight);
    if (!cost.recompute.empty()) {
      backward += static_cast<double>(recomputed_ops(job_, block).size());
      hidden_s += total_seconds(cost.recompute);
    }
    wait_for_host(cost.backward_input, backward + collectives, hidden_s);
  }

  // `hidden_s`: what the GPU has to do besides `parts` in the same direction.
  void wait_for_host(std::vector<CostPart>& parts, double launches, double hidden_s = 0) const {
    const Parameter& launch = calibration_.host_launch_s;
    add(parts, Category::host, launch.origin,
        launches * launch.value - total_seconds(parts) - hidden_s);
  }

  std::vector<Op> ops(Block block, Pass pass) const { return block_ops(job_, block, pass); }

  OpCost cost_of(const Op& op) const {
    return op_cost(op, cluster_.node.gpu, job_.precision, calibration_);
  }

  void add_op(const Op& op, Category category, std::vector<CostPart>& parts) const {
    const OpCost cost = cost_of(op);
    add(parts, category, cost.origin, cost.seconds);
  }

  BlockCost compute(Block block) const {
    BlockCost cost;
    const auto add_pass = [&](Pass pass, Category category, std::vector<CostPart>& parts) {
      for (const Op& op : ops(block, pass)) {
        add_op(op, category, parts);
        cost.hardware_flops += convention_flops(op);
      }
    };
    add_pass(Pass::forward, Category::forward, cost.forward);
    add_pass(Pass::backward_input, Category::backward, cost.backward_input);
    add_pass(Pass::backward_weight, Category::backward, cost.backward_weight);
    return cost;
  }

  CollectiveCost collective(CollectiveKind kind, const GroupShape& shape, double bytes) const {
    return collective_cost(kind, CollectiveAlgorithm::automatic, shape, bytes, cluster_,
                           calibration_);
  }

  // Sums partial results over tp: to every rank, or to each its part of the sequence.
  CollectiveCost reduction() const {
    return collective(
        layout_.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
        tp_shape_, gathered_bytes_);
  }

  void add_reduction(std::vector<CostPart>& parts) const {
    if (layout_.tp == 1) return;
    const CollectiveCost cost = reduction();
    add(parts, Category::tp, cost.origin, cost.seconds);
  }

  void add_gather(std::vector<CostPart>& parts) const {
    if (layout_.tp == 1 || !layout_.sequence_parallel) return;
    const CollectiveCost cost = collective(CollectiveKind::all_gather, tp_shape_, gathered_bytes_);
    add(parts, Category::tp, cost.origin, cost.seconds);
  }

  // Backward of a column-parallel layer: its input is gathered again beside the input gradient's
  // GEMM, and the input gradient is reduced beside the weight gradient's GEMM.
  void add_column_parallel(const Op& input_gradient, const Op& weight_gradient,
                           std::vector<CostPart>& parts) const {
    if (layout_.tp == 1) return;
    if (layout_.sequence_parallel) {
      const CollectiveCost gather =
          collective(CollectiveKind::all_gather, tp_shape_, gathered_bytes_);
      add(parts, Category::tp, gather.origin, gather.seconds - cost_of(input_gradient).seconds);
    }
    const CollectiveCost reduce = reduction();
    add(parts, Category::tp, reduce.origin, reduce.seconds - cost_of(weight_gradient).seconds);
  }

  // Ring attention (Liu et al. 2023, arXiv 2310.01889): every rank sees all K and V once forward;
  // backward also their gradients pass round.
  void add_ring(BlockCost& cost) const {
    if (layout_.cp == 1) return;
    const double bytes =
        bytes_of(job_.precision) * rows_ * layout_.cp * 2.0 * model_.kv_width() / layout_.tp;
    const auto add_exposed = [&](Pass pass, double times, std::vector<CostPart>& parts) {
      double attention_s = 0;
      for (const Op& op : ops(Block::layer, pass)) {
        if (op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward) {
          attention_s += cost_of(op).seconds;
        }
      }
      const CollectiveCost ring = collective(CollectiveKind::all_gather, cp_shape_, times * bytes);
      add(parts, Category::cp, ring.origin, ring.seconds - attention_s);
    };
    add_exposed(Pass::forward, 1, cost.forward);
    add_exposed(Pass::backward_input, 2, cost.backward_input);
  }

  const Job& job_;
  const TransformerSpec& model_;
  const Cluster& cluster_;
  const Layout& layout_;
  const Calibration& calibration_;
  GroupShape tp_shape_;
  GroupShape cp_shape_;
  double rows_ = 0;            // tokens of a micro-batch on this GPU
  double gathered_bytes_ = 0;  // the activation of all these rows
};

void add_block(ChunkCost& chunk, const BlockCost& block, double times) {
  add_times(chunk.forward, block.forward, times);
  add_times(chunk.backward_input, block.backward_input, times);
  add_times(chunk.backward_weight, block.backward_weight, times);
  add_times(chunk.recompute, block.recompute, times);
  chunk.hardware_flops += times * block.hardware_flops;
}

}  // namespace

std::vector<ChunkCost> chunk_costs(const Job& job) {
  const BlockCoster coster(job);
  const BlockCost layer = coster.layer();
  const LayerActivations kept = layer_activations(job);
  const std::vector<int> layers = layers_per_stage(job.model, job.layout);
  const std::vector<double> parameters = stage_parameters(job.model, job.layout);
  std::vector<ChunkCost> chunks(layers.size());
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    ChunkCost& chunk = chunks[stage];
    add_block(chunk, layer, layers[stage]);
    chunk.parameters = parameters[stage];
    chunk.activation_bytes = layers[stage] * kept.kept;
    chunk.weight_activation_bytes = layers[stage] * kept.for_weights;
    chunk.transient_bytes = layers[stage] > 0 ? kept.transient : 0;
    chunk.boundary_bytes = boundary_bytes(job);
  }
  add_block(chunks.front(), coster.embedding(), 1);
  add_block(chunks.back(), coster.head(), 1);
  const LayerActivations head = head_activations(job);
  chunks.back().activation_bytes += head.kept;
  chunks.back().weight_activation_bytes += head.for_weights;
  chunks.back().transient_bytes = std::max(chunks.back().transient_bytes, head.transient);
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
