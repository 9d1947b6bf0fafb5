#include "models/cost/tensor/tensor_parallel.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

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

// A change of signature as collectives one after another; none where a rank has what it needs.
using Sent = std::vector<InnerCollective>;

Origin origin_of(const Sent& sent) {
  return sent.empty() ? Origin::assumed : sent.front().origin;
}

void append(const Sent& more, Sent& to) {
  to.insert(to.end(), more.begin(), more.end());
}

// What follows a half, for one row slice, and the compute that can hide another's.
struct Slot {
  std::vector<InnerRound> own;  // beside kernels of the half itself
  Sent sent;                    // summing its output, as far as nothing of its own hides it
  Sent before;                  // gathering its input
  double compute_s = 0;         // that is left for another half's
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
    add(sum(setting_.activation_bytes(hidden_)), {}, cost.of_forward());
    add(gather(setting_.activation_bytes(hidden_)), {}, cost.of_backward_weight());
  }

  void add_head(const PassOps& ops, BlockCost& cost) const {
    const double bytes = setting_.activation_bytes(hidden_);
    add(gather(bytes), {}, cost.of_forward());
    // Maximum, predicted logit and sum of exponentials, one fp32 number per token each.
    const InnerCollective small = setting_.collective(
        InnerGroup::tensor, CollectiveKind::all_reduce, shape_, 4 * setting_.rows);
    cost.of_forward().add(
        {.category = Category::tp, .origin = small.origin, .collectives = {small, small, small}});
    add_column_parallel({OpRole::logits, hidden_}, gather(bytes), ops, cost.of_backward_input());
  }

 private:
  // Kernels beside which a collective runs.
  struct Kernels {
    double seconds = 0;
    BesideCompute of = BesideCompute::pass;
  };

  // How the activations between the halves lie on the ranks.
  Signature between() const { return job_.layout.sequence_parallel ? split_along(0) : kBroadcast; }

  // Of elements as they stand, or as a linear layer's GEMM reads them.
  Sent change(const Signature& from, const Signature& to, double bytes,
              double element_bytes) const {
    const Transition step = transition(from, to, bytes, shape_.members);
    if (!step.collective) return {};
    return setting_.exchanged(InnerGroup::tensor, *step.collective, shape_, step.bytes,
                              element_bytes);
  }

  // Sums partial results over tp: to every rank, or to each its part of the sequence.
  Sent sum(double bytes) const {
    return change(kPartial, between(), bytes, bytes_of(job_.precision));
  }
  Sent gather(double bytes) const {
    return change(between(), kBroadcast, bytes, bytes_of(job_.precision));
  }
  Sent gather_operands(double bytes) const {
    return change(between(), kBroadcast, bytes, gemm_bytes_of(job_.precision));
  }

  static void add(const Sent& sent, const Kernels& beside, const BlockPass& pass) {
    pass.add({.category = Category::tp,
              .origin = origin_of(sent),
              .collectives = sent,
              .beside_s = beside.seconds,
              .beside = beside.of});
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
    const Sent scatter = change(kPartial, split_along(0), setting_.activation_bytes(width),
                                bytes_of(job_.precision));
    return std::min(collectives_s(scatter), gemm_s);
  }

  void add_half(const Half& half, const PassOps& ops, BlockCost& cost) const {
    add(sum(setting_.activation_bytes(hidden_)),
        {pipelined_s(ops.forward, half.row_parallel) +
         fused_s(hidden_, op_s(ops.forward, half.row_parallel))},
        cost.of_forward());
    // Of the row-parallel layer's output gradient.
    add(gather_operands(setting_.operand_bytes(hidden_)),
        {pipelined_s(ops.backward_input, half.row_parallel)}, cost.of_backward_input());
    for (const ColumnParallel& column : half.columns) {
      const Sent input = gather_operands(setting_.operand_bytes(column.width));
      add(input, {pipelined_s(ops.forward, column.role)}, cost.of_forward());
      add_column_parallel(column, input, ops, cost.of_backward_input());
    }
  }

  // Backward of a column-parallel layer: its input is gathered again beside the input gradient's
  // GEMM, and the input gradient is reduced beside the weight gradient's GEMM.
  void add_column_parallel(const ColumnParallel& column, const Sent& input, const PassOps& ops,
                           const BlockPass& pass) const {
    const double input_gradient_s = op_s(ops.backward_input, column.role);
    const double left_s = std::max(0.0, input_gradient_s - collectives_s(input));
    add(input, {input_gradient_s}, pass);
    add(sum(setting_.activation_bytes(column.width)),
        {op_s(ops.backward_weight, column.role) + fused_s(column.width, left_s),
         BesideCompute::weights},
        pass);
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

  // A collective beside kernels of its own half: what of it sticks out is sent behind them.
  void add_own(const Sent& sent, double times, InnerRound round, Slot& slot) const {
    if (collectives_s(sent) <= 0 || times <= 0) return;
    round.category = Category::tp;
    round.collectives = shares_of(sent, times);
    const double covered = covered_s(round) / collectives_s(round);
    append(shares_of(round.collectives, 1 - covered), slot.sent);
    round.collectives = shares_of(round.collectives, covered);
    slot.own.push_back(std::move(round));
  }

  // Columns that the row-parallel GEMM has written are reduced beside those that it writes.
  Slot forward_slot(const Half& half, const PassOps& ops) const {
    const double slices = tensor_slices(job_);
    const double columns = tensor_columns(job_);
    const Sent piece = sum(setting_.activation_bytes(hidden_) / (slices * columns));
    const double beside_s = (columns - 1) * op_s(ops.forward, half.row_parallel);
    Slot slot;
    slot.sent = piece;
    add_own(piece, columns - 1, {.beside_s = beside_s, .slowdown = setting_.slowdown()}, slot);
    for (const InnerRound& early : slot.own) {
      slot.compute_s -= covered_s(early) - slowed_s(early);
    }
    for (const ColumnParallel& column : half.columns) {
      append(gather_operands(setting_.operand_bytes(column.width) / slices), slot.before);
    }
    return slot;
  }

  Slot backward_slot(const Half& half, const PassOps& ops) const {
    const double slices = tensor_slices(job_);
    Slot slot;
    slot.before = gather_operands(setting_.operand_bytes(hidden_) / slices);
    for (const ColumnParallel& column : half.columns) {
      const Sent again = gather_operands(setting_.operand_bytes(column.width) / slices);
      const double hidden_s = std::min(collectives_s(again), op_s(ops.backward_input, column.role));
      slot.own.push_back({.category = Category::tp, .collectives = again, .beside_s = hidden_s});
      slot.compute_s -= hidden_s;
      add_own(
          sum(setting_.activation_bytes(column.width) / slices), 1,
          {.beside_s = op_s(ops.backward_weight, column.role), .beside = BesideCompute::weights},
          slot);
    }
    return slot;
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
    expose(forward[0], forward[1], false, cost.of_forward());
    expose(forward[1], forward[0], true, cost.of_forward());
    expose(backward[1], backward[0], false, cost.of_backward_input());
    expose(backward[0], backward[1], true, cost.of_backward_input());
  }

  // All slices of a half in which `next` follows: of the next layer where the pass leaves this one.
  void expose(const Slot& half, const Slot& next, bool leaves_layer, const BlockPass& pass) const {
    const int slices = tensor_slices(job_);
    InnerRound between{.category = Category::tp,
                       .origin = origin_of(sum(setting_.activation_bytes(hidden_))),
                       .collectives = half.sent,
                       .beside_s = half.compute_s,
                       .slowdown = setting_.slowdown()};
    append(next.before, between.collectives);
    for (int slice = 0; slice < slices; ++slice) {
      for (InnerRound own : half.own) {
        own.origin = between.origin;
        pass.add(std::move(own));
      }
      if (slice + 1 < slices) pass.add(between);
    }
    // The first slice of the next half waits for the same slice of this one, except on a ladder.
    const bool passes = slices > 1 || overlap_ == TensorOverlap::ladder;
    between.beside_s = passes ? next.compute_s : 0;
    between.into_next_layer = leaves_layer;
    pass.add(std::move(between));
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
