#include "models/cost/parallel/tensor_parallel.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "models/cost/parallel/sbp.hpp"
#include "models/cost/parallel/tensor_ops.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {
namespace {

// A half of a layer starts with one product, or with several from different inputs.
struct FirstProduct {
  OpRole role = OpRole::other;
  double width = 0;  // of its input
};

// Attention or an MLP as tp divides it.
struct Half {
  std::vector<FirstProduct> first;
  OpRole last = OpRole::projection;
  MatrixSplit first_split = MatrixSplit::columns;
  MatrixSplit last_split = MatrixSplit::rows;
  double first_out = 0;  // widths of the tensors between the products
  double last_in = 0;
};

// The signature that a product x w requires of x, and that of its result: OneFlow's table (arXiv
// 2110.15032, section 3.1).
Signature operand_of(MatrixSplit weights) {
  return weights == MatrixSplit::columns ? kBroadcast : split_along(1);
}
Signature result_of(MatrixSplit weights) {
  return weights == MatrixSplit::columns ? split_along(1) : kPartial;
}
// The signature of a tensor's gradient, derived from the tensor's signature where it is read or
// made.
Signature gradient_of(const Signature& signature) {
  if (signature == kBroadcast) return kPartial;
  return signature == kPartial ? kBroadcast : signature;
}
// Between the products of a half, a rank holds its heads or its part of the MLP's columns.
constexpr Signature kOwnUnits = split_along(1);

Half attention_half(const Job& job, Block block) {
  const TransformerSpec& model = job.model;
  const LatentAttention& latent = model.latent;
  const double hidden = model.hidden;
  Half half{.first = {},
            .last = OpRole::projection,
            .first_split = job.layout.signatures.qkv,
            .last_split = job.layout.signatures.projection,
            .first_out = static_cast<double>(model.q_width() + 2 * model.kv_width() +
                                             (model.attention_gate ? model.context_width() : 0)),
            .last_in = static_cast<double>(model.context_width())};
  if (block == Block::single_stream) {
    half.first_out += model.up_width();
    half.last_in += model.ffn_hidden;
  }
  const FirstProduct keys{OpRole::key_value_up,
                          static_cast<double>(latent.kv_rank + latent.rotary_width)};
  if (latent.kv_rank == 0) {
    half.first = {{OpRole::query_key_value, hidden}};
  } else if (latent.query_rank == 0) {
    half.first = {{OpRole::query, hidden}, keys};
  } else {
    half.first = {{OpRole::query_up, static_cast<double>(latent.query_rank)}, keys};
  }
  return half;
}

// Attention of a decoder's layer to the encoder's output, counted per token of the decoder: each
// has sources_per_token() of the source's tokens.
Half cross_half(const Job& job) {
  const TransformerSpec& model = job.model;
  const double hidden = model.hidden;
  const double sources = sources_per_token(job);
  return {.first = {{OpRole::query, hidden}, {OpRole::key_value_up, hidden * sources}},
          .last = OpRole::projection,
          .first_out = model.q_width() + 2.0 * model.kv_width() * sources,
          .last_in = static_cast<double>(model.context_width())};
}

Half mamba_half(const Job& job) {
  const MambaMixer& mamba = job.model.mamba;
  return {.first = {{OpRole::query_key_value, static_cast<double>(job.model.hidden)}},
          .last = OpRole::projection,
          .first_out = static_cast<double>(mamba.projected()),
          .last_in = static_cast<double>(mamba.inner())};
}

Half mlp_half(const Job& job, Block block) {
  const TransformerSpec& model = job.model;
  const bool dense = has_mlp(block);  // tp divides no experts but the shared one
  const int ffn = dense ? model.ffn_hidden : model.moe.shared_ffn;
  return {.first = {{dense ? OpRole::up : OpRole::shared_up, static_cast<double>(model.hidden)}},
          .last = dense ? OpRole::down : OpRole::shared_down,
          .first_split = job.layout.signatures.up,
          .last_split = job.layout.signatures.down,
          .first_out = (model.activation == Activation::swiglu ? 2.0 : 1.0) * ffn,
          .last_in = static_cast<double>(ffn)};
}

// A change of signature as a sequence of collectives; empty if every rank already has what it
// needs.
using Sent = std::vector<InnerCollective>;

Origin origin_of(const Sent& sent) {
  return sent.empty() ? Origin::assumed : sent.front().origin;
}

void append(const Sent& more, Sent& to) {
  to.insert(to.end(), more.begin(), more.end());
}

// The communication after a half of a layer, for one row slice, and the compute that can hide
// communication of another slice.
struct Slot {
  std::vector<InnerRound> own;  // overlapping kernels of the half itself
  Sent sent;                    // summing its output, except the part that its own kernels hide
  Sent before;                  // gathering its input
  double compute_s = 0;         // left to hide another half's communication
};

bool fills_slots(TensorOverlap overlap) {
  return overlap == TensorOverlap::domino || overlap == TensorOverlap::sub_pipelined ||
         overlap == TensorOverlap::ladder || overlap == TensorOverlap::kraken;
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
    std::vector<Half> halves;
    if (has_attention(block)) halves.push_back(attention_half(job_, block));
    if (reads_source(block)) halves.push_back(cross_half(job_));
    if (has_mamba(block)) halves.push_back(mamba_half(job_));
    const bool beside = block == Block::single_stream;  // MLP and attention have common products
    if ((has_mlp(block) && !beside) || (has_experts(block) && job_.model.moe.shared_ffn > 0)) {
      halves.push_back(mlp_half(job_, block));
    }
    if (fills_slots(overlap_)) return add_slots(halves, ops, cost);
    for (const Half& half : halves) add_half(half, ops, cost);
  }

  void add_embedding(BlockCost& cost) const {
    const double bytes = setting_.activation_bytes(hidden_);
    const Signature rows = result_of(job_.layout.signatures.embedding);
    add(change(rows, between(), bytes), {}, cost.of_forward());
    add(change(between(), gradient_of(rows), bytes), {}, cost.of_backward_weight());
  }

  void add_head(const PassOps& ops, BlockCost& cost) const {
    const double bytes = setting_.activation_bytes(hidden_);
    const Sent gathered = change(between(), kBroadcast, bytes);
    add(gathered, {}, cost.of_forward());
    // Maximum, predicted logit and sum of exponentials, one fp32 number per token each.
    const int chunks = job_.training ? job_.training->loss.chunks : 1;
    const InnerCollective small = setting_.collective(
        InnerGroup::tensor, CollectiveKind::all_reduce, shape_, 4 * setting_.rows / chunks);
    cost.of_forward().add({.category = Category::tp,
                           .origin = small.origin,
                           .collectives = Sent(static_cast<std::size_t>(3 * chunks), small)});
    add_first_product({OpRole::logits, hidden_}, MatrixSplit::columns, gathered, ops,
                      cost.of_backward_input());
  }

 private:
  // Kernels that a collective overlaps.
  struct Kernels {
    double seconds = 0;
    BesideCompute of = BesideCompute::pass;
  };

  // How the activations between the halves are distributed over ranks.
  Signature between() const { return job_.layout.sequence_parallel ? split_along(0) : kBroadcast; }

  Sent change(const Signature& from, const Signature& to, double bytes,
              double element_bytes) const {
    const Transition step = transition(from, to, bytes, shape_.members);
    if (!step.collective) return {};
    return setting_.exchanged(InnerGroup::tensor, *step.collective, shape_, step.bytes,
                              element_bytes);
  }
  // Elements are sent as they are stored, or as a linear layer's GEMM reads them.
  Sent change(const Signature& from, const Signature& to, double bytes) const {
    return change(from, to, bytes, bytes_of(job_.precision));
  }
  Sent change_operands(const Signature& from, const Signature& to, double bytes) const {
    return change(from, to, bytes, gemm_bytes_of(job_.precision));
  }

  // In Megatron-LM's signatures, partial results are summed over tp (each rank gets the whole sum,
  // or only its part of the sequence), and operands are gathered.
  Sent sum(double bytes) const { return change(kPartial, between(), bytes); }
  Sent gather_operands(double bytes) const { return change_operands(between(), kBroadcast, bytes); }

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

  // pipelined: collective and GEMM are cut into tp pieces, so that pieces of both overlap.
  double pipelined_s(const std::vector<Op>& pass, OpRole role) const {
    if (overlap_ != TensorOverlap::pipelined || !job_.layout.sequence_parallel) return 0;
    return op_s(pass, role) * (job_.layout.tp - 1) / job_.layout.tp;
  }

  // fused: the part of a reduction that runs within `gemm_s`, the time of the GEMM that writes its
  // input.
  double fused_s(double width, double gemm_s) const {
    if (overlap_ != TensorOverlap::fused) return 0;
    const Sent scatter = change(kPartial, split_along(0), setting_.activation_bytes(width),
                                bytes_of(job_.precision));
    return std::min(collectives_s(scatter), gemm_s);
  }

  // With sequence parallelism the fused reduce-scatter is the whole collective, so that it can run
  // during the entire GEMM however fast the links are.
  double fusing_s(double gemm_s) const {
    const bool whole = overlap_ == TensorOverlap::fused && job_.layout.sequence_parallel;
    return whole ? gemm_s : fused_s(hidden_, gemm_s);
  }

  void add_half(const Half& half, const PassOps& ops, BlockCost& cost) const {
    const Signature result = result_of(half.last_split);
    add(change(result, between(), setting_.activation_bytes(hidden_)),
        {pipelined_s(ops.forward, half.last) + fusing_s(op_s(ops.forward, half.last))},
        cost.of_forward());
    add(change_operands(between(), gradient_of(result), setting_.operand_bytes(hidden_)),
        {pipelined_s(ops.backward_input, half.last)}, cost.of_backward_input());
    for (const FirstProduct& product : half.first) {
      const Sent input = change_operands(between(), operand_of(half.first_split),
                                         setting_.operand_bytes(product.width));
      add(input, {pipelined_s(ops.forward, product.role)}, cost.of_forward());
      add_first_product(product, half.first_split, input, ops, cost.of_backward_input());
    }
    add_inside(half, ops, cost);
  }

  // Communication between the products of a half, if their splits require it; Megatron-LM's do not.
  void add_inside(const Half& half, const PassOps& ops, BlockCost& cost) const {
    const Signature made = result_of(half.first_split);
    const double made_bytes = setting_.activation_bytes(half.first_out);
    add(change(made, kOwnUnits, made_bytes), {}, cost.of_forward());
    const Signature read = operand_of(half.last_split);
    const Sent operand = change_operands(kOwnUnits, read, setting_.operand_bytes(half.last_in));
    add(operand, {}, cost.of_forward());
    add(operand, {op_s(ops.backward_input, half.last)}, cost.of_backward_input());  // regathered
    add(change(gradient_of(read), kOwnUnits, setting_.activation_bytes(half.last_in)),
        {op_s(ops.backward_weight, half.last), BesideCompute::weights}, cost.of_backward_input());
    add(change_operands(kOwnUnits, gradient_of(made), setting_.operand_bytes(half.first_out)), {},
        cost.of_backward_input());
  }

  // Backward of a half's first product: its input is gathered again during the input gradient's
  // GEMM, and the input gradient is reduced during the weight gradient's GEMM.
  void add_first_product(const FirstProduct& product, MatrixSplit split, const Sent& input,
                         const PassOps& ops, const BlockPass& pass) const {
    const double input_gradient_s = op_s(ops.backward_input, product.role);
    const double left_s = std::max(0.0, input_gradient_s - collectives_s(input));
    add(input, {input_gradient_s}, pass);
    add(change(gradient_of(operand_of(split)), between(), setting_.activation_bytes(product.width)),
        {op_s(ops.backward_weight, product.role) + fused_s(product.width, left_s),
         BesideCompute::weights},
        pass);
  }

  // Returns the seconds of one row slice's ops for attention's half, which includes its norm and
  // residual, and for the MLP's half.
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

  // Adds a collective that overlaps kernels of its own half; the exposed part is sent after them.
  void add_own(const Sent& sent, double times, InnerRound round, Slot& slot) const {
    if (collectives_s(sent) <= 0 || times <= 0) return;
    round.category = Category::tp;
    round.collectives = shares_of(sent, times);
    const double covered = covered_s(round) / collectives_s(round);
    append(shares_of(round.collectives, 1 - covered), slot.sent);
    round.collectives = shares_of(round.collectives, covered);
    slot.own.push_back(std::move(round));
  }

  // In Kraken each rank's attention reads and writes a private residual stream. Outputs of MLPs are
  // summed during the next layer's attention, and its MLP reads the sum.
  bool stays_apart(const Half& half) const {
    return overlap_ == TensorOverlap::kraken && half.last == OpRole::projection;
  }

  // Columns that the row-parallel GEMM has written are reduced while it writes others.
  Slot forward_slot(const Half& half, const PassOps& ops) const {
    const double slices = tensor_slices(job_);
    const double columns = tensor_columns(job_);
    const Sent piece = sum(setting_.activation_bytes(hidden_) / (slices * columns));
    const double beside_s = (columns - 1) * op_s(ops.forward, half.last);
    Slot slot;
    if (stays_apart(half)) return slot;
    slot.sent = piece;
    add_own(piece, columns - 1, {.beside_s = beside_s, .slowdown = setting_.slowdown()}, slot);
    for (const InnerRound& early : slot.own) {
      slot.compute_s -= covered_s(early) - slowed_s(early);
    }
    for (const FirstProduct& column : half.first) {
      append(gather_operands(setting_.operand_bytes(column.width) / slices), slot.before);
    }
    return slot;
  }

  Slot backward_slot(const Half& half, const PassOps& ops) const {
    const double slices = tensor_slices(job_);
    Slot slot;
    if (overlap_ == TensorOverlap::kraken) {
      if (!stays_apart(half)) slot.sent = sum(setting_.activation_bytes(hidden_));
      return slot;
    }
    slot.before = gather_operands(setting_.operand_bytes(hidden_) / slices);
    for (const FirstProduct& column : half.first) {
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

  // Adds the communication of all slices of a half. `next` follows it, in the next layer if the
  // pass leaves this one.
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
    // The first slice of the next half waits for the same slice of this one, unless it reads the
    // previous sum.
    const bool passes =
        slices > 1 || overlap_ == TensorOverlap::ladder || overlap_ == TensorOverlap::kraken;
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
    default:
      return parallel.add_layer(block, ops, cost);
  }
}

}  // namespace windtunnel
