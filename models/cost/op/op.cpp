#include "models/cost/op/op.hpp"

#include <algorithm>

#include "models/base/error.hpp"
#include "models/cost/op/element_wise.hpp"

namespace windtunnel {
namespace {

Op first_residual_op(Pass pass, const TransformerSpec& model, const Shard& s) {
  Op op = residual_op("residual 1", pass, model, s);
  op.role = OpRole::first_residual;
  return op;
}

// The half of a layer that mixes tokens, with its norm and its residual sum.
void append_mixer_half(const Job& job, Block block, const Shard& s, Pass pass,
                       std::vector<Op>& ops) {
  if (!has_mixer(block)) return;
  const auto append = has_mamba(block) ? append_mamba : append_attention;
  if (pass == Pass::backward_weight) return append(job, s, pass, ops);
  const bool forward = pass == Pass::forward;
  if (forward) ops.push_back(norm_op("norm 1", pass, s));
  if (!forward) ops.push_back(first_residual_op(pass, job.model, s));
  append(job, s, pass, ops);
  if (forward) ops.push_back(first_residual_op(pass, job.model, s));
  if (!forward) ops.push_back(norm_op("norm 1", pass, s));
}

void append_second_half(const Job& job, Block block, const Shard& s, Pass pass,
                        std::vector<Op>& ops) {
  if (!has_feed_forward(block)) return;
  const auto append = has_experts(block) ? append_experts : append_mlp;
  if (pass == Pass::backward_weight) return append(job, s, pass, ops);
  const bool forward = pass == Pass::forward;
  if (forward) ops.push_back(norm_op("norm 2", pass, s, NormPlace::joined));
  if (!forward) ops.push_back(residual_op("residual 2", pass, job.model, s));
  append(job, s, pass, ops);
  if (forward) ops.push_back(residual_op("residual 2", pass, job.model, s));
  if (!forward) ops.push_back(norm_op("norm 2", pass, s));
}

// Columns of the output gradients that products with a bias sum over all rows.
double bias_columns(const Job& job, Block block, const Shard& s) {
  if (!job.model.biases) return 0;
  double columns = 0;
  if (has_attention(block)) columns += s.q + s.k + s.v + s.hidden;
  if (reads_source(block)) columns += s.q + s.hidden + (s.k + s.v) * sources_per_token(job);
  if (has_feed_forward(block)) columns += s.up + s.hidden;
  return columns;
}

// Both halves, in the order of the pass.
void append_halves(const Job& job, Block block, const Shard& s, Pass pass, std::vector<Op>& ops) {
  if (has_two_streams(block)) return append_two_streams(job, block, s, pass, ops);
  if (block == Block::single_stream) return append_single_stream(job, s, pass, ops);
  if (pass == Pass::forward) append_mixer_half(job, block, s, pass, ops);
  if (reads_source(block) && pass == Pass::forward) append_cross_half(job, s, pass, ops);
  append_second_half(job, block, s, pass, ops);
  if (reads_source(block) && pass != Pass::forward) append_cross_half(job, s, pass, ops);
  if (pass != Pass::forward) append_mixer_half(job, block, s, pass, ops);
}

std::vector<Op> layer_ops(const Job& job, Block block, Pass pass, const Shard& s) {
  std::vector<Op> ops;
  ops.reserve(24);
  if (pass == Pass::forward) append_modulation(job, block, s, pass, ops);
  append_halves(job, block, s, pass, ops);
  if (pass != Pass::forward) append_modulation(job, block, s, pass, ops);
  const double columns = bias_columns(job, block, s);
  if (pass == Pass::backward_weight && columns > 0 && s.trains) {
    ops.push_back(memory_op("bias gradients", s.e * s.tokens * columns));
  }
  return ops;
}

std::vector<Op> embedding_ops(const Job& job, Pass pass, const Shard& s) {
  const TransformerSpec& model = job.model;
  const bool narrow = job.layout.signatures.embedding == MatrixSplit::columns;
  const double elements = s.tokens * s.hidden / (narrow ? job.layout.tp : 1);
  switch (pass) {
    case Pass::forward: {
      const double mask = model.dropout ? 1 : 0;
      return {memory_op("lookup", 2 * s.e * elements),
              memory_op("embedding residual", (3 * s.e + mask) * s.norm_tokens * s.hidden)};
    }
    case Pass::backward_input:
      return {};
    case Pass::backward_weight:
      break;
  }
  if (!s.trains) return {};
  return {memory_op("lookup", (s.e + s.gradient) * elements)};
}

// Bytes per logit. Fused: read for maximum and sum, gradient written in place. Unfused, as
// Megatron-LM's vocab_parallel_cross_entropy, fp32 after the cast: forward cast (e + 4), maximum
// (4), subtract (8), exponential (8), sum (4), divide (8); backward scale in place (8), cast (4 +
// e).
double cross_entropy_bytes(bool fused, Pass pass, double e) {
  if (fused) return pass == Pass::forward ? e : 2 * e;
  return pass == Pass::forward ? e + 4 + 4 + 8 + 8 + 4 + 8 : 8 + 4 + e;
}

// A chunk's loss is directly followed by its gradients of input and weights, so its logits are
// freed before the next chunk's (Liger Kernel: Hsu et al. 2024, arXiv 2410.10989, section 3.2); the
// backward pass only scales the gradients.
std::vector<Op> chunked_head_ops(const Job& job, Pass pass, const Shard& s) {
  const double chunks = job.training->loss.chunks;
  const Linear chunk{"logits", OpRole::logits, s.tokens / chunks, s.hidden, s.vocabulary};
  const auto product = [&](Pass of) { return plain_linear_op(chunk, of, s.e, job, s); };
  const Op norm = norm_op("final norm", pass, s);
  if (pass == Pass::backward_weight) return {not_run(product(pass))};
  if (pass == Pass::backward_input) {
    return {memory_op("scale gradient", 2 * s.e * s.tokens * s.hidden), not_run(product(pass)),
            norm};
  }
  std::vector<Op> ops = {norm};
  const bool backward = part_training(job.training.get()).backward;
  const double loss_bytes =
      cross_entropy_bytes(job.software.fused_loss, Pass::forward, s.e) +
      (backward ? cross_entropy_bytes(job.software.fused_loss, Pass::backward_input, s.e) : 0);
  for (int i = 0; i < job.training->loss.chunks; ++i) {
    ops.push_back(product(Pass::forward));
    ops.push_back(memory_op("cross entropy", loss_bytes * chunk.rows * s.vocabulary));
    if (!backward) continue;
    for (const Pass of : {Pass::backward_input, Pass::backward_weight}) {
      ops.push_back(product(of));
      ops.back().role = OpRole::other;
    }
  }
  return ops;
}

std::vector<Op> head_ops(const Job& job, Pass pass, const Shard& s) {
  if (is_contrastive(job.training.get())) return contrastive_ops(job, pass, s);
  if (job.training && job.training->loss.chunks > 1) return chunked_head_ops(job, pass, s);
  const Op logits = plain_linear_op({"logits", OpRole::logits, s.tokens, s.hidden, s.vocabulary},
                                    pass, s.e, job, s);
  if (pass == Pass::backward_weight) return {logits};
  const Op norm = norm_op("final norm", pass, s);
  const Op loss =
      memory_op("cross entropy",
                cross_entropy_bytes(job.software.fused_loss, pass, s.e) * s.tokens * s.vocabulary);
  if (pass == Pass::forward) return {norm, logits, loss};
  return {loss, logits, norm};
}

}  // namespace

std::vector<Op> joining_ops(const Job& job, Pass pass, const SequenceSlice& slice) {
  const Shard s = shard_of(job, slice);
  const Linear joined{"mtp in", OpRole::other, s.tokens, 2 * s.hidden, s.hidden / job.layout.tp};
  std::vector<Op> ops;
  append_linear(joined, pass, s, ops);
  if (pass == Pass::backward_weight) return ops;
  for (int input = 0; input < 2; ++input) ops.push_back(norm_op("mtp norm", pass, s));
  ops.push_back(memory_op("mtp inputs", 4 * s.e * s.tokens * s.hidden));
  const auto ends = embedding_ops(job, pass, s);
  ops.insert(ops.end(), ends.begin(), ends.end());
  return ops;
}

SequenceSlice part_of(const Job& job, Block block, const SequenceSlice& slice) {
  const double share = job.model.rows_share(block, job.batch.sequence);
  return {slice.begin * share, slice.end * share};
}

std::vector<Op> block_ops(const Job& job, Block block, Pass pass, const SequenceSlice& slice) {
  const Shard s = shard_of(job, block, slice);
  switch (block) {
    case Block::embedding:
      return embedding_ops(job, pass, s);
    case Block::head:
      return head_ops(job, pass, s);
    default:
      break;
  }
  return layer_ops(job, block, pass, s);
}

namespace {

// Keeps only the ops whose results the backward pass of a layer reads: see Software::early_stop.
void stop_early(const Job& job, Block block, std::vector<Op>& ops) {
  if (!job.software.early_stop || !has_mlp(block)) return;
  ops.erase(std::ranges::find(ops, OpRole::down, &Op::role), ops.end());
}

std::vector<Op> fully_recomputed_ops(const Job& job, Block block, const SequenceSlice& slice) {
  std::vector<Op> ops = block_ops(job, block, Pass::forward, slice);
  stop_early(job, block, ops);
  return ops;
}

Op share_of_outputs(Op op, double share) {
  op.n *= share;
  op.starts = 1;
  op.flops *= share;
  op.bytes *= share;
  return op;
}

// torchtitan's per-op policy recomputes every second of the products q, k, v, projection, gate, up
// and down: keys, projection and up. Attention to an encoder's output adds its keys and projection.
void append_every_other_gemm(const Job& job, Block block, const Shard& s, std::vector<Op>& ops) {
  for (const Op& op : layer_ops(job, block, Pass::forward, s)) {
    if (op.kind != OpKind::gemm) continue;
    const double keys = s.k / (s.q + s.k + s.v + s.gate);
    if (op.role == OpRole::query_key_value) ops.push_back(share_of_outputs(op, keys));
    if (op.role == OpRole::projection) ops.push_back(op);
    if (op.role == OpRole::key_value_up && reads_source(block)) {
      ops.push_back(share_of_outputs(op, s.k / (s.k + s.v)));
    }
    if (op.role == OpRole::up && s.gated) ops.push_back(share_of_outputs(op, 0.5));
  }
}

void append_recomputed_core(const Job& job, const Shard& s, std::vector<Op>& ops) {
  using enum RecomputeModule;
  const Recompute& again = job.recompute;
  if (again.has(core_attn)) return append_attention_core(job, s, Pass::forward, ops);
  const bool scored = again.has(scores) || again.has(matmuls);
  if (!scored || job.model.attention != AttentionKernel::unfused) return;
  append_by_shard(job, s, ops, [&](const Shard& shard) {
    append_unfused_forward(job.model, shard, ops);
    ops.resize(ops.size() - 2);  // no context product: its output is kept
  });
}

void append_recomputed_mixer(const Job& job, Block block, const Shard& s, std::vector<Op>& ops) {
  using enum RecomputeModule;
  const Recompute& again = job.recompute;
  const bool norms = again.has(layernorm) || again.has(matmuls);
  if (norms) ops.push_back(norm_op("norm 1", Pass::forward, s));
  if (!has_attention(block)) return;
  if (again.has(mla_up_proj) && job.model.latent.kv_rank > 0) {
    append_latent_up(job, s, ops);
    append_rotary(job, s, Pass::forward, ops);
  }
  append_recomputed_core(job, s, ops);
  // A later norm of the block reads the sum after the projection. `matmuls` recomputes the
  // projection itself.
  const bool projects = again.has(attention) && !again.has(matmuls) && halves(block) > 1;
  if (projects) append_projection(job, s, Pass::forward, ops);
  if (!reads_source(block)) return;
  if (norms) ops.push_back(norm_op("cross norm", Pass::forward, s));
  append_recomputed_core(job, cross_shard(job, s), ops);
  if (projects) append_projection(job, s, Pass::forward, ops);
}

void append_recomputed_mlp(const Job& job, Block block, const Shard& s, std::vector<Op>& ops) {
  using enum RecomputeModule;
  const Recompute& again = job.recompute;
  const bool cheap = again.has(matmuls);
  if (!shares_norm(block) && (again.has(layernorm) || cheap)) {
    ops.push_back(norm_op("norm 2", Pass::forward, s));
  }
  if (has_mlp(block)) {
    if (job.software.mlp_tiles > 1) return;  // the tiles run again anyway
    if (again.has(mlp)) {
      append_mlp(job, s, Pass::forward, ops);
      return stop_early(job, block, ops);
    }
    if (again.has(mlp_act) || cheap) append_activation(job, mlp_act, Pass::forward, s, ops);
    return;
  }
  if (again.has(moe)) return append_experts(job, s, Pass::forward, ops);
  if (again.has(moe_act) || cheap) append_activation(job, moe_act, Pass::forward, s, ops);
  if (job.model.moe.shared_ffn == 0) return;
  if (again.has(shared_experts)) return append_shared(job, s, Pass::forward, ops);
  if (again.has(mlp_act) || cheap) append_activation(job, shared_experts, Pass::forward, s, ops);
}

}  // namespace

std::vector<Op> recomputed_ops(const Job& job, Block block, const SequenceSlice& slice) {
  if (job.recompute == Recompute::none) return {};
  if (job.recompute.has(RecomputeModule::layer)) return fully_recomputed_ops(job, block, slice);
  const Shard s = shard_of(job, block, slice);
  std::vector<Op> ops;
  if (has_mixer(block)) append_recomputed_mixer(job, block, s, ops);
  if (has_feed_forward(block)) append_recomputed_mlp(job, block, s, ops);
  if (job.recompute.has(RecomputeModule::matmuls)) append_every_other_gemm(job, block, s, ops);
  return ops;
}

Op not_run(Op op) {
  op.kind = OpKind::memory;
  op.flops = op.bytes = op.launches = op.starts = 0;
  return op;
}

const Op& product_of(const std::vector<Op>& ops, OpRole role) {
  const auto at = std::ranges::find(ops, role, &Op::role);
  CHECK(at != ops.end(), "no op of role {}", static_cast<int>(role));
  return *at;
}

}  // namespace windtunnel
