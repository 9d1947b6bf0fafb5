#include "models/tensor_parallel.hpp"

#include <string_view>

namespace windtunnel {
namespace {

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

class TensorParallel {
 public:
  TensorParallel(const BlockSetting& setting, const GroupShape& shape)
      : setting_(setting), job_(setting.job), shape_(shape), hidden_(setting.job.model.hidden) {}

  void add_layer(Block block, const PassOps& ops, BlockCost& cost) const {
    add_half(attention_half(job_.model), ops, cost);
    if (block == Block::layer || job_.model.moe.shared_ffn > 0) {
      add_half(mlp_half(job_.model, block), ops, cost);
    }
  }

  void add_embedding(BlockCost& cost) const {
    add_reduction(hidden_, cost.forward);
    add_gather(setting_.activation_bytes(hidden_), cost.backward_weight);
  }

  void add_head(const PassOps& ops, BlockCost& cost) const {
    const double bytes = setting_.activation_bytes(hidden_);
    add_gather(bytes, cost.forward);
    // Maximum, predicted logit and sum of exponentials, one fp32 number per token each.
    const CollectiveCost small =
        setting_.collective(CollectiveKind::all_reduce, shape_, 4 * setting_.rows);
    add_cost(cost.forward, Category::tp, small.origin, 3 * small.seconds);
    add_column_parallel({"logits", hidden_}, bytes, ops, cost.backward_input);
  }

 private:
  // Sums partial results over tp: to every rank, or to each its part of the sequence.
  CollectiveCost reduction(double width) const {
    return setting_.collective(
        job_.layout.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
        shape_, setting_.activation_bytes(width));
  }

  void add_reduction(double width, std::vector<CostPart>& parts, double hidden_s = 0) const {
    const CollectiveCost cost = reduction(width);
    add_cost(parts, Category::tp, cost.origin, cost.seconds - hidden_s);
  }

  void add_gather(double bytes, std::vector<CostPart>& parts, double hidden_s = 0) const {
    if (!job_.layout.sequence_parallel) return;
    const CollectiveCost cost = setting_.collective(CollectiveKind::all_gather, shape_, bytes);
    add_cost(parts, Category::tp, cost.origin, cost.seconds - hidden_s);
  }

  double op_s(const std::vector<Op>& pass, std::string_view name) const {
    return setting_.cost(op_named(pass, name)).seconds;
  }

  // What tp_overlap hides of a collective behind this GEMM: both are cut into tp pieces, of which
  // one waits for the other.
  double pipelined_s(const std::vector<Op>& pass, std::string_view name) const {
    if (!job_.software.tp_overlap || !job_.layout.sequence_parallel) return 0;
    return op_s(pass, name) * (job_.layout.tp - 1) / job_.layout.tp;
  }

  void add_half(const Half& half, const PassOps& ops, BlockCost& cost) const {
    add_reduction(hidden_, cost.forward, pipelined_s(ops.forward, half.row_parallel));
    // Of the row-parallel layer's output gradient.
    add_gather(setting_.operand_bytes(hidden_), cost.backward_input,
               pipelined_s(ops.backward_input, half.row_parallel));
    for (const ColumnParallel& column : half.columns) {
      const double bytes = setting_.operand_bytes(column.width);
      add_gather(bytes, cost.forward, pipelined_s(ops.forward, column.name));
      add_column_parallel(column, bytes, ops, cost.backward_input);
    }
  }

  // Backward of a column-parallel layer: its input is gathered again beside the input gradient's
  // GEMM, and the input gradient is reduced beside the weight gradient's GEMM.
  void add_column_parallel(const ColumnParallel& column, double input_bytes, const PassOps& ops,
                           std::vector<CostPart>& parts) const {
    add_gather(input_bytes, parts, op_s(ops.backward_input, column.name));
    add_reduction(column.width, parts, op_s(ops.backward_weight, column.name));
  }

  const BlockSetting& setting_;
  const Job& job_;
  const GroupShape& shape_;
  double hidden_ = 0;
};

}  // namespace

void add_tensor_parallel(const BlockSetting& setting, const GroupShape& shape, Block block,
                         const PassOps& ops, BlockCost& cost) {
  if (setting.job.layout.tp == 1) return;
  const TensorParallel parallel(setting, shape);
  switch (block) {
    case Block::embedding:
      return parallel.add_embedding(cost);
    case Block::head:
      return parallel.add_head(ops, cost);
    case Block::layer:
    case Block::moe_layer:
      return parallel.add_layer(block, ops, cost);
  }
}

}  // namespace windtunnel
