#include "models/cost/tensor/tensor_parallel.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "models/cost/tensor/sbp.hpp"
#include "models/cost/tensor/tensor_ops.hpp"

namespace windtunnel {
namespace {

// A GEMM whose input tp gathers.
struct ColumnParallel {
  OpRole role = OpRole::other;
  double width = 0;  // of the gathered input
};

// Attention or an MLP as tp divides it.
struct Half {
  std::vector<ColumnParallel> columns;
  OpRole row_parallel = OpRole::projection;  // the GEMM whose output is summed over tp
};

Half attention_half(const TransformerSpec& model) {
  const LatentAttention& latent = model.latent;
  const double hidden = model.hidden;
  if (latent.kv_rank == 0) return {{{OpRole::query_key_value, hidden}}, OpRole::projection};
  const ColumnParallel keys{OpRole::key_value_up,
                            static_cast<double>(latent.kv_rank + latent.rotary_width)};
  if (latent.query_rank == 0) return {{{OpRole::query, hidden}, keys}, OpRole::projection};
  return {{{OpRole::query_up, static_cast<double>(latent.query_rank)}, keys}, OpRole::projection};
}

Half mlp_half(const TransformerSpec& model, Block block) {
  const double hidden = model.hidden;
  if (block == Block::layer) return {{{OpRole::up, hidden}}, OpRole::down};
  return {{{OpRole::shared_up, hidden}}, OpRole::shared_down};  // tp divides no other experts
}

// What follows a half, for one row slice, and the compute that can hide another's.
struct Slot {
  double sent_s = 0;    // summing its output, as far as nothing of its own hides it
  double before_s = 0;  // gathering its input
  double open_s = 0;    // exposed whatever runs beside it
  double compute_s = 0;
};

bool fills_slots(TensorOverlap overlap) {
  return overlap == TensorOverlap::domino || overlap == TensorOverlap::sub_pipelined ||
         overlap == TensorOverlap::ladder;
}

class TensorParallel {
 public:
  TensorParallel(const BlockSetting& setting, const GroupShape& shape)
      : setting_(setting),
        job_(setting.job),
        overlap_(setting.job.software.tp_overlap),
        shape_(shape),
        hidden_(setting.job.model.hidden) {}

  void add_layer(Block block, const PassOps& ops, BlockCost& cost) const {
    std::vector<Half> halves = {attention_half(job_.model)};
    if (block == Block::layer || job_.model.moe.shared_ffn > 0) {
      halves.push_back(mlp_half(job_.model, block));
    }
    if (fills_slots(overlap_)) return add_slots(halves, ops, cost);
    for (const Half& half : halves) add_half(half, ops, cost);
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
    add_column_parallel({OpRole::logits, hidden_}, bytes, ops, cost.backward_input);
  }

 private:
  // How the activations between the halves lie on the ranks.
  Signature between() const { return job_.layout.sequence_parallel ? split_along(0) : kBroadcast; }

  // Sums partial results over tp: to every rank, or to each its part of the sequence.
  CollectiveCost sum(double bytes) const {
    return transition_cost(job_, shape_, kPartial, between(), bytes);
  }
  CollectiveCost reduction(double width) const { return sum(setting_.activation_bytes(width)); }

  void add_reduction(double width, std::vector<CostPart>& parts, double hidden_s = 0) const {
    const CollectiveCost cost = reduction(width);
    add_cost(parts, Category::tp, cost.origin, cost.seconds - hidden_s);
  }

  CollectiveCost gather(double bytes) const {
    return transition_cost(job_, shape_, between(), kBroadcast, bytes);
  }

  void add_gather(double bytes, std::vector<CostPart>& parts, double hidden_s = 0) const {
    const CollectiveCost cost = gather(bytes);
    add_cost(parts, Category::tp, cost.origin, cost.seconds - hidden_s);
  }

  double op_s(const std::vector<Op>& pass, OpRole role) const {
    return setting_.cost(product_of(pass, role)).seconds;
  }

  // pipelined: collective and GEMM are cut into tp pieces, of which one waits for the other.
  double pipelined_s(const std::vector<Op>& pass, OpRole role) const {
    if (overlap_ != TensorOverlap::pipelined || !job_.layout.sequence_parallel) return 0;
    return op_s(pass, role) * (job_.layout.tp - 1) / job_.layout.tp;
  }

  // fused: of a reduction what runs within `gemm_s` of the GEMM that writes what is reduced.
  double fused_s(double width, double gemm_s) const {
    if (overlap_ != TensorOverlap::fused) return 0;
    const CollectiveCost scatter =
        transition_cost(job_, shape_, kPartial, split_along(0), setting_.activation_bytes(width));
    return std::min(scatter.seconds, gemm_s);
  }

  void add_half(const Half& half, const PassOps& ops, BlockCost& cost) const {
    add_reduction(hidden_, cost.forward,
                  pipelined_s(ops.forward, half.row_parallel) +
                      fused_s(hidden_, op_s(ops.forward, half.row_parallel)));
    // Of the row-parallel layer's output gradient.
    add_gather(setting_.operand_bytes(hidden_), cost.backward_input,
               pipelined_s(ops.backward_input, half.row_parallel));
    for (const ColumnParallel& column : half.columns) {
      const double bytes = setting_.operand_bytes(column.width);
      add_gather(bytes, cost.forward, pipelined_s(ops.forward, column.role));
      add_column_parallel(column, bytes, ops, cost.backward_input);
    }
  }

  // Backward of a column-parallel layer: its input is gathered again beside the input gradient's
  // GEMM, and the input gradient is reduced beside the weight gradient's GEMM.
  void add_column_parallel(const ColumnParallel& column, double input_bytes, const PassOps& ops,
                           std::vector<CostPart>& parts) const {
    const double input_gradient_s = op_s(ops.backward_input, column.role);
    const double left_s = std::max(0.0, input_gradient_s - gather(input_bytes).seconds);
    add_gather(input_bytes, parts, input_gradient_s);
    add_reduction(column.width, parts,
                  op_s(ops.backward_weight, column.role) + fused_s(column.width, left_s));
  }

  // Seconds of one row slice's ops: attention's half, with its norm and residual, and the MLP's.
  std::array<double, 2> half_seconds(const std::vector<Op>& pass, bool forward) const {
    std::array<double, 2> seconds = {};
    std::size_t half = forward ? 0 : 1;
    for (const Op& op : std::span(pass).first(pass.size() / tensor_slices(job_))) {
      const bool last_of_first = op.role == OpRole::first_residual;
      if (last_of_first && !forward) half = 0;
      seconds[half] += setting_.cost(op).seconds;
      if (last_of_first && forward) half = 1;
    }
    return seconds;
  }

  // Columns that the row-parallel GEMM has written are reduced beside those that it writes.
  Slot forward_slot(const Half& half, const PassOps& ops) const {
    const double slices = tensor_slices(job_);
    const double columns = tensor_columns(job_);
    const double piece_s = sum(setting_.activation_bytes(hidden_) / (slices * columns)).seconds;
    const double early_s = (columns - 1) * piece_s;
    const double beside_s = (columns - 1) * op_s(ops.forward, half.row_parallel);
    Slot slot;
    slot.open_s = slowed_s(early_s, beside_s);
    slot.sent_s = piece_s + open_s(early_s, beside_s);
    slot.compute_s = -used_s(early_s, beside_s);
    for (const ColumnParallel& column : half.columns) {
      slot.before_s += gather(setting_.operand_bytes(column.width) / slices).seconds;
    }
    return slot;
  }

  Slot backward_slot(const Half& half, const PassOps& ops) const {
    const double slices = tensor_slices(job_);
    Slot slot;
    slot.before_s = gather(setting_.operand_bytes(hidden_) / slices).seconds;
    for (const ColumnParallel& column : half.columns) {
      const double again_s = gather(setting_.operand_bytes(column.width) / slices).seconds;
      const double hidden_s = std::min(again_s, op_s(ops.backward_input, column.role));
      slot.open_s += again_s - hidden_s;
      slot.compute_s -= hidden_s;
      const double sum_s = sum(setting_.activation_bytes(column.width) / slices).seconds;
      slot.sent_s += std::max(0.0, sum_s - op_s(ops.backward_weight, column.role));
    }
    return slot;
  }

  // Of a collective beside compute: what sticks out, what it slows, the compute that it takes.
  double open_s(double collective_s, double compute_s) const {
    return collective_s - setting_.covered_s(collective_s, compute_s);
  }
  double slowed_s(double collective_s, double compute_s) const {
    return setting_.beside_s(collective_s, compute_s) - open_s(collective_s, compute_s);
  }
  double used_s(double collective_s, double compute_s) const {
    return setting_.covered_s(collective_s, compute_s) - slowed_s(collective_s, compute_s);
  }

  void add_slots(const std::vector<Half>& halves, const PassOps& ops, BlockCost& cost) const {
    std::array<Slot, 2> forward = {};
    std::array<Slot, 2> backward = {};
    for (std::size_t i = 0; i < halves.size(); ++i) {
      forward[i] = forward_slot(halves[i], ops);
      backward[i] = backward_slot(halves[i], ops);
    }
    const std::array<double, 2> forward_s = half_seconds(ops.forward, true);
    const std::array<double, 2> backward_s = half_seconds(ops.backward_input, false);
    for (std::size_t i = 0; i < 2; ++i) {
      forward[i].compute_s += forward_s[i];
      backward[i].compute_s += backward_s[i];
    }
    expose(forward[0], forward[1], cost.forward);
    expose(forward[1], forward[0], cost.forward, &cost.forward_end);
    expose(backward[1], backward[0], cost.backward_input);
    expose(backward[0], backward[1], cost.backward_input, &cost.backward_end);
  }

  // All slices of a half in which `next` follows; `end`: what stays if nothing does.
  void expose(const Slot& half, const Slot& next, std::vector<CostPart>& parts,
              std::vector<CostPart>* end = nullptr) const {
    const int slices = tensor_slices(job_);
    const double between_s = half.sent_s + next.before_s;
    // The first slice of the next half waits for the same slice of this one, except on a ladder.
    const bool passes = slices > 1 || overlap_ == TensorOverlap::ladder;
    const double last_s = passes ? setting_.beside_s(between_s, next.compute_s) : between_s;
    const double others_s = (slices - 1) * setting_.beside_s(between_s, half.compute_s);
    const Origin origin = reduction(hidden_).origin;
    add_cost(parts, Category::tp, origin, slices * half.open_s + others_s + last_s);
    if (end != nullptr) add_cost(*end, Category::tp, origin, between_s - last_s);
  }

  const BlockSetting& setting_;
  const Job& job_;
  TensorOverlap overlap_;
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
