// Computes the kernels of an MLP, either dense or with a mixture of experts.
//
// Experts run as in Megatron-Core with its all-to-all dispatcher (megatron/core/transformer/moe:
// router.py, token_dispatcher.py, experts.py; fused permutation, grouped GEMM of Transformer
// Engine). The router's GEMM runs in 16 bit with fp32 results, followed by top-k. Each token is
// copied once per expert that it visits (permute), sent (dispatch: expert_parallel.hpp) and sorted
// by the local expert that gets it. The local experts' MLPs are grouped GEMMs with the router's
// weight in the activation. Results are sorted back, sent back (combine) and added up (unpermute).
// A shared expert is an additional dense MLP that tp divides. Auxiliary losses and padding of the
// groups are not counted.
#include <algorithm>
#include <functional>

#include "models/cost/op/element_wise.hpp"

namespace windtunnel {
namespace {

double up_of(const TransformerSpec& model, double ffn) {
  return model.activation == Activation::swiglu ? 2 * ffn : ffn;
}

Op dense_activation_op(const TransformerSpec& model, Pass pass, const Shard& s) {
  const char* name = model.activation == Activation::swiglu ? "swiglu" : "gelu";
  return activation_op(name, pass, model, s.tokens, s.ffn, s);
}

double shared_ffn(const Job& job) {
  return static_cast<double>(job.model.moe.shared_ffn) / job.layout.tp;
}

Op shared_activation_op(const Job& job, Pass pass, const Shard& s) {
  Op op = activation_op("shared activation", pass, job.model, s.tokens, shared_ffn(job), s);
  op.role = OpRole::shared_other;
  return op;
}

Op expert_activation_op(const Job& job, Pass pass, const Shard& s) {
  return activation_op("expert activation", pass, job.model, s.expert_rows,
                       job.model.moe.ffn_hidden, s);
}

// Adds up projection, activation and down projection, in the order of the pass.
void append_matrices(Linear up, const Op& activation, Linear down, Pass pass, const Shard& s,
                     std::vector<Op>& ops) {
  const bool forward = pass == Pass::forward;
  up.site = LinearSite::up;
  down.site = LinearSite::down;
  append_linear(forward ? up : down, pass, s, ops);
  if (pass != Pass::backward_weight) ops.push_back(activation);
  append_linear(forward ? down : up, pass, s, ops);
}

// Router and top-k over the rows that this GPU sends: logits and chosen weights of fp32 and a byte
// of the map from tokens to experts; backward reads the weights' gradient, writes the logits'.
void append_router(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const double experts = job.model.moe.experts;
  const double rows = s.tokens / job.layout.tp;
  const Linear router{"router", OpRole::other, rows, s.hidden, experts};
  const double output = pass == Pass::forward ? 4 : s.e;
  const Op gemm = plain_linear_op(router, pass, output, job, s);
  const Op top_k = memory_op("top-k", (4 + 4 + 1) * rows * experts);
  if (pass == Pass::forward) ops.insert(ops.end(), {gemm, top_k});
  if (pass == Pass::backward_input) ops.insert(ops.end(), {top_k, gemm});
  if (pass == Pass::backward_weight) ops.push_back(gemm);
}

// One copy per expert of a token is written from, or summed into, the tokens' rows. Merged dispatch
// sends the rows themselves, and copies are made on arrival (append_sort).
void append_permute(std::string_view name, const Job& job, const Shard& s, std::vector<Op>& ops) {
  if (job.software.ep_merged && job.layout.ep > 1) return;
  const double rows = s.routed / job.model.moe.per_token;
  ops.push_back(memory_op(name, s.e * (s.routed + rows) * job.model.expert_width()));
}

// Marks ops that the host launches once per local expert, and whose size depends on the router.
void mark_routed(const Job& job, const Shard& s, std::size_t first, std::vector<Op>& ops) {
  for (std::size_t i = first; i < ops.size(); ++i) {
    ops[i].routed = true;
    const bool grouped = ops[i].kind == OpKind::gemm || ops[i].role == OpRole::quantise;
    if (grouped && !job.software.fused_experts) ops[i].launches *= s.local_experts;
  }
}

// The bias after the experts, weighted by the router, in fp32 and one expert after the other
// (megatron/core/transformer/moe/experts.py, _apply_bias): product, sum, concatenation and the cast
// to 16 bit; backward the cast, and the gradients of bias and weight with their sums.
void append_expert_bias(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  if (!job.model.biases || job.software.fused_experts || pass == Pass::backward_weight) return;
  const bool forward = pass == Pass::forward;
  const double passes_fp32 = forward ? 6 : 8;  // over the output, plus one in 16 bit
  Op op =
      memory_op("expert bias", (4 * passes_fp32 + s.e) * s.expert_rows * job.model.expert_width());
  op.launches = s.local_experts * (forward ? 2 : 5);
  op.routed = true;
  ops.push_back(op);
}

// Projects the rows that this GPU sends to the width of the experts, or back.
void append_width(const Job& job, bool to_experts, Pass pass, const Shard& s,
                  std::vector<Op>& ops) {
  const double width = job.model.moe.latent_width;
  if (width == 0) return;
  const double rows = s.tokens / job.layout.tp;
  const Linear down{"to experts", OpRole::other, rows, s.hidden, width};
  const Linear up{"from experts", OpRole::other, rows, width, s.hidden};
  append_linear(to_experts ? down : up, pass, s, ops);
}

// The local experts. Fused: the activation and the quantising between the matrices are part of the
// GEMM before them.
void append_expert_matrices(const Job& job, const Linear& up, const Op& activation,
                            const Linear& down, Pass pass, const Shard& s, std::vector<Op>& ops) {
  const std::size_t first = ops.size();
  append_matrices(up, activation, down, pass, s, ops);
  if (!job.software.fused_experts || pass == Pass::backward_weight) return;
  const auto is_gemm = [](const Op& op) { return op.kind == OpKind::gemm; };
  const auto behind =
      std::find_if(ops.begin() + static_cast<std::ptrdiff_t>(first), ops.end(), is_gemm);
  ops.erase(std::remove_if(behind, ops.end(), std::not_fn(is_gemm)), ops.end());
}

// Sorts rows that arrive by source rank into the order of experts that the GEMM needs. With one
// expert, or one source, they are in order already.
void append_sort(std::string_view name, const Job& job, const Shard& s, std::vector<Op>& ops) {
  if (job.layout.ep == 1 || (s.local_experts == 1 && !job.software.ep_merged)) return;
  ops.push_back(memory_op(name, 2 * s.e * s.expert_rows * job.model.expert_width()));
}

}  // namespace

void append_shared(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const double ffn = shared_ffn(job);
  if (ffn == 0) return;
  const ProductSignatures& split = job.layout.signatures;
  Linear up = split_as(
      {"shared up", OpRole::shared_up, s.tokens, s.hidden, up_of(job.model, ffn), s.norm_tokens},
      MatrixSplit::columns, split.up, job.layout.tp);
  const Linear down = split_as(
      {"shared down", OpRole::shared_down, s.tokens, ffn, s.hidden, s.tokens, s.norm_tokens},
      MatrixSplit::rows, split.down, job.layout.tp);
  up.products = s.gated ? 2 : 1;
  append_matrices(up, shared_activation_op(job, pass, s), down, pass, s, ops);
  if (pass == Pass::backward_weight) return;
  ops.push_back(
      memory_op("shared addition", 3 * s.e * s.norm_tokens * s.hidden, OpRole::shared_other));
}

namespace {

void append_dense(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const ProductSignatures& split = job.layout.signatures;
  Linear up = split_as({"up", OpRole::up, s.tokens, s.hidden, s.up, s.norm_tokens},
                       MatrixSplit::columns, split.up, job.layout.tp);
  Linear down = split_as({"down", OpRole::down, s.tokens, s.ffn, s.hidden, s.tokens, s.norm_tokens},
                         MatrixSplit::rows, split.down, job.layout.tp);
  up.input_cast = up.gradient_cast = down.input_cast = true;
  up.products = s.gated ? 2 : 1;
  append_matrices(up, dense_activation_op(job.model, pass, s), down, pass, s, ops);
}

// Each tile reads the weights again, and the backward pass first recomputes the tile.
void append_tiled(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const double tiles = job.software.mlp_tiles;
  Shard tile = s;
  tile.tokens /= tiles;
  tile.norm_tokens /= tiles;
  tile.steps_share /= tiles;
  const std::size_t first = ops.size();
  if (pass == Pass::backward_input) {
    append_dense(job, tile, Pass::forward, ops);
    for (std::size_t i = first; i < ops.size(); ++i) ops[i].role = OpRole::other;
  }
  append_dense(job, tile, pass, ops);
  for (std::size_t i = first; i < ops.size(); ++i) {
    for (double Op::*each : {&Op::batch, &Op::flops, &Op::bytes, &Op::launches, &Op::starts}) {
      ops[i].*each *= tiles;
    }
  }
}

}  // namespace

void append_mlp(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  if (job.software.mlp_tiles > 1) return append_tiled(job, s, pass, ops);
  append_dense(job, s, pass, ops);
}

void append_experts(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const double ffn = job.model.moe.ffn_hidden;
  const double rows = s.expert_rows / s.local_experts;
  const double width = job.model.expert_width();
  Linear up{"expert up", OpRole::other, rows, width, up_of(job.model, ffn)};
  Linear down{"expert down", OpRole::other, rows, ffn, width};
  up.batch = down.batch = s.local_experts;
  up.products = s.gated ? 2 : 1;
  const Op activation = expert_activation_op(job, pass, s);
  std::size_t first = ops.size();
  switch (pass) {
    case Pass::forward:
      append_router(job, s, pass, ops);
      append_width(job, true, pass, s, ops);
      first = ops.size();
      append_permute("permute", job, s, ops);
      append_sort("sort", job, s, ops);
      append_expert_matrices(job, up, activation, down, pass, s, ops);
      append_sort("sort back", job, s, ops);
      append_permute("unpermute", job, s, ops);
      mark_routed(job, s, first, ops);
      append_expert_bias(job, s, pass, ops);
      append_width(job, false, pass, s, ops);
      append_shared(job, s, pass, ops);
      return;
    case Pass::backward_input:
      append_shared(job, s, pass, ops);
      append_width(job, false, pass, s, ops);
      first = ops.size();
      append_permute("unpermute", job, s, ops);
      append_sort("sort back", job, s, ops);
      append_expert_matrices(job, up, activation, down, pass, s, ops);
      append_sort("sort", job, s, ops);
      append_permute("permute", job, s, ops);
      mark_routed(job, s, first, ops);
      append_expert_bias(job, s, pass, ops);
      append_width(job, true, pass, s, ops);
      append_router(job, s, pass, ops);
      return;
    case Pass::backward_weight:
      append_shared(job, s, pass, ops);
      append_width(job, false, pass, s, ops);
      append_width(job, true, pass, s, ops);
      first = ops.size();
      append_expert_matrices(job, up, activation, down, pass, s, ops);
      mark_routed(job, s, first, ops);
      append_router(job, s, pass, ops);
      return;
  }
}

void append_activation(const Job& job, RecomputeModule of, Pass pass, const Shard& s,
                       std::vector<Op>& ops) {
  using enum RecomputeModule;
  ops.push_back(of == moe_act          ? expert_activation_op(job, pass, s)
                : of == shared_experts ? shared_activation_op(job, pass, s)
                                       : dense_activation_op(job.model, pass, s));
}

}  // namespace windtunnel
