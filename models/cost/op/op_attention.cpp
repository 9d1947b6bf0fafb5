// Attention: grouped-query (Ainslie et al. 2023, arXiv 2305.13245) and latent (DeepSeek-V2, arXiv
// 2405.04434, section 2.1), fused or not, or linear.
//
// Latent attention as Megatron-Core trains it: the down projections are the same on every tp rank,
// over its rows of the sequence; their latents are gathered and projected up to the rank's heads.
// Keys and values are not absorbed into the projections, as inference does.
#include <algorithm>

#include "models/cost/op/element_wise.hpp"

namespace windtunnel {
namespace {

Op attention_gemm_op(std::string_view name, double m, double n, double k, const Shard& s) {
  Op op;
  op.name = name;
  op.kind = OpKind::attention_gemm;
  op.m = m;
  op.n = n;
  op.k = k;
  op.batch = s.heads;
  op.flops = 2 * op.batch * m * n * k;
  op.bytes = op.batch * s.e * (m * k + k * n + m * n);
  return op;
}

Op flash_op(const Shard& s, bool backward) {
  Op op;
  op.name = "attention";
  op.kind = backward ? OpKind::attention_backward : OpKind::attention_forward;
  op.m = s.queries;
  op.n = s.keys / s.ring;  // each step of the ring is a separate kernel
  if (s.reach > 0) op.n = std::min(op.n, s.reach);
  op.k = s.query_dim;
  op.batch = s.heads * s.ring;
  // The forward pass computes scores and context; the backward pass computes the scores again, and
  // the gradients of values, scores, queries and keys.
  const double widths = backward ? 3 * s.query_dim + 2 * s.value_dim : s.query_dim + s.value_dim;
  op.flops = 2 * s.heads * s.queries * s.attended * widths;
  // In a ring every step but the first sees whole blocks or none, so only a single step is causal.
  op.causal = s.attended < s.keys && s.ring == 1;
  // Forward reads q, k, v and writes o; backward reads these and do, writes dq, dk, dv.
  const double key_tokens = s.key_copies * s.tokens * s.keys / s.queries;
  const double bytes = s.e * (s.tokens * (s.q + s.context) + key_tokens * (s.k + s.v));
  op.bytes = backward ? 2 * bytes : bytes;
  return op;
}

// Each ring step after the first is accumulated: forward the output, backward the gradients of q, k
// and v. Causal: half of the steps involve half of the rows; without a mask all involve all rows.
Op ring_merge_op(const Shard& s, bool backward) {
  const double width = backward ? s.q + s.k + s.v : s.context;
  const double rows = s.attended < s.keys ? 0.75 : 1;
  return memory_op("ring merge", rows * (s.ring - 1) * 3 * s.e * s.tokens * width);
}

// One module launches all of them: the first kernel counts as an operation, the others as further
// kernels.
void launch_with_first(std::vector<Op>& ops, std::size_t first) {
  for (std::size_t i = first + 1; i < ops.size(); ++i) ops[i].further = true;
}

void append_unfused_backward(const TransformerSpec& model, const Shard& s, std::vector<Op>& ops) {
  const std::size_t first = ops.size();
  const double scores = s.heads * s.queries * s.keys;
  ops.push_back(attention_gemm_op("context (scores)", s.queries, s.keys, s.value_dim, s));
  ops.push_back(attention_gemm_op("context (values)", s.keys, s.value_dim, s.queries, s));
  if (model.dropout) ops.push_back(memory_op("score dropout", (2 * s.e + 1) * scores));
  ops.push_back(memory_op("softmax", 3 * s.e * scores));
  ops.push_back(attention_gemm_op("scores (queries)", s.queries, s.query_dim, s.keys, s));
  ops.push_back(attention_gemm_op("scores (keys)", s.keys, s.query_dim, s.queries, s));
  ops.push_back(memory_op("transpose", 2 * s.e * s.tokens * (s.q + s.k + s.v + s.context)));
  launch_with_first(ops, first);
}

// Works block by block: the scores within a block, the block's part of the state, and what the
// state of earlier blocks adds to its rows; the backward pass has two products for each. Every
// product goes through memory, because no kernel that fuses them is assumed.
void append_linear_core(const Shard& s, bool backward, std::vector<Op>& ops) {
  const double block = std::min(kLinearBlock, s.queries);
  Shard blocks = s;
  blocks.heads = s.heads * s.queries / block;
  for (int i = 0; i < (backward ? 2 : 1); ++i) {
    const std::size_t first = ops.size();
    ops.push_back(attention_gemm_op("block scores", block, block, s.query_dim, blocks));
    ops.push_back(attention_gemm_op("block context", block, s.value_dim, block, blocks));
    ops[first].role = ops[first + 1].role = OpRole::block_product;
    ops.push_back(attention_gemm_op("state", s.query_dim, s.value_dim, block, blocks));
    ops.push_back(attention_gemm_op("state context", block, s.value_dim, s.query_dim, blocks));
  }
}

void append_kernels(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const TransformerSpec& model = job.model;
  const bool backward = pass == Pass::backward_input;
  if (model.attention == AttentionKernel::flash) {
    ops.push_back(flash_op(s, backward));
    ops.back().portable = job.software.portable_attention;
    ops.back().speed = job.software.attention_speed * s.in_window;
    if (s.ring > 1) ops.push_back(ring_merge_op(s, backward));
  } else if (model.attention == AttentionKernel::linear) {
    append_linear_core(s, backward, ops);
  } else if (backward) {
    append_unfused_backward(model, s, ops);
  } else {
    append_unfused_forward(model, s, ops);
  }
}

void append_latent_queries(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const double rank = job.model.latent.query_rank;
  if (rank == 0) {
    Linear queries{"q", OpRole::query, s.tokens, s.hidden, s.q, s.norm_tokens};
    queries.input_cast = true;
    queries.site = LinearSite::query_key_value;
    append_linear(queries, pass, s, ops);
    return;
  }
  Linear down{"q down", OpRole::other, s.norm_tokens, s.hidden, rank};
  Linear up{"q up", OpRole::query_up, s.tokens, rank, s.q, s.norm_tokens};
  down.site = up.site = LinearSite::query_key_value;
  append_linear(pass == Pass::forward ? down : up, pass, s, ops);
  if (pass != Pass::backward_weight) ops.push_back(norm_op("q norm", pass, rank, s));
  append_linear(pass == Pass::forward ? up : down, pass, s, ops);
}

void append_latent_keys(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const LatentAttention& latent = job.model.latent;
  const double rank = latent.kv_rank;
  const double heads = static_cast<double>(job.model.heads) / job.layout.tp;
  Linear down{"kv down", OpRole::other, s.norm_tokens, s.hidden, rank + latent.rotary_width};
  Linear up{
      "kv up",      OpRole::key_value_up, s.tokens, rank, s.k - heads * latent.rotary_width + s.v,
      s.norm_tokens};
  down.site = up.site = LinearSite::query_key_value;
  append_linear(pass == Pass::forward ? down : up, pass, s, ops);
  if (pass != Pass::backward_weight) ops.push_back(norm_op("kv norm", pass, rank, s));
  append_linear(pass == Pass::forward ? up : down, pass, s, ops);
}

// The indexer's products, as Megatron-Core trains it (megatron/core/transformer/
// experimental_attention_variant/dsa.py): whole on every tp rank, which has all rows, and apart
// from the model's gradients, so that none pass through it.
void append_indexer(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const SparseAttention& sparse = job.model.sparse;
  if (sparse.heads == 0 || pass == Pass::backward_input) return;
  const double rank = job.model.latent.query_rank;
  for (const Linear& linear :
       {Linear{"indexer q", OpRole::other, s.tokens, rank > 0 ? rank : s.hidden,
               double(sparse.heads) * sparse.width},
        Linear{"indexer k", OpRole::other, s.tokens, s.hidden, double(sparse.width)},
        Linear{"indexer weights", OpRole::other, s.tokens, s.hidden, double(sparse.heads)}}) {
    ops.push_back(plain_linear_op(linear, pass, s.e, job, s));
  }
}

// Scores of all earlier keys, from which the best are chosen: written in fp32 and read once. In the
// backward pass the indexer learns attention's weights of the chosen keys, which are computed once
// more, summed over heads (DeepSeek-V3.2: arXiv 2512.02556, section 2.1.1, sparse training).
void append_choice(const Job& job, const Shard& s, bool backward, std::vector<Op>& ops) {
  const TransformerSpec& model = job.model;
  const Shard chosen = chosen_shard(job, s);
  const auto product = [&](std::string_view name, double heads, double width, double keys,
                           double times) {
    Op op = memory_op(name, s.e * s.tokens * (heads + 1) * width + 2 * 4 * s.tokens * keys);
    op.kind = OpKind::attention_gemm;
    op.m = s.queries;
    op.n = keys;
    op.k = width;
    op.batch = times * heads * s.tokens / s.queries;
    op.flops = 2 * op.batch * op.m * op.n * op.k;
    return op;
  };
  const double heads = model.sparse.heads;
  const double width = model.sparse.width;
  if (!backward) {
    ops.push_back(product("indexer scores", heads, width, s.attended, 1));
    ops.back().causal = s.attended < s.keys;
    ops.push_back(memory_op("top k", 4 * s.tokens * (s.attended + model.sparse.top_k)));
    return;
  }
  ops.push_back(product("indexer target", double(model.heads) / job.layout.tp, chosen.query_dim,
                        chosen.attended, 1));
  ops.push_back(product("indexer gradients", heads, width, chosen.attended, 3));
}

// Projects keys and values along the sequence to fewer of each, by matrices that all heads share.
// If ranks share the sequence, each projects its own part, and the results are summed. Backward:
// the gradients of keys and values, and of the matrices.
void append_key_projection(const Job& job, const Shard& s, bool backward, std::vector<Op>& ops) {
  Shard all = s;
  all.heads = job.batch.micro;
  const double few = job.model.keys_of(job.batch.sequence);
  const double width = s.k + s.v;
  if (!backward) {
    ops.push_back(attention_gemm_op("key projection", few, width, s.queries, all));
    return;
  }
  ops.push_back(attention_gemm_op("key projection", s.queries, width, few, all));
  ops.push_back(attention_gemm_op("key projection (weights)", few, s.queries, width, all));
}

void append_inputs(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  if (job.model.latent.kv_rank == 0) {
    Linear all = split_as({"qkv", OpRole::query_key_value, s.tokens, s.hidden,
                           s.q + s.k + s.v + s.gate, s.norm_tokens},
                          MatrixSplit::columns, job.layout.signatures.qkv, job.layout.tp);
    all.input_cast = true;
    all.site = LinearSite::query_key_value;
    all.products = 3;
    append_linear(all, pass, s, ops);
    return;
  }
  append_latent_queries(job, s, pass, ops);
  append_latent_keys(job, s, pass, ops);
  if (s.gate > 0) {
    append_linear({"gate", OpRole::other, s.tokens, s.hidden, s.gate, s.norm_tokens}, pass, s, ops);
  }
  append_indexer(job, s, pass, ops);
}

// Forward, the gate's sigmoid multiplies attention's output; backward yields gradients of both.
Op output_gate_op(const Shard& s, Pass pass) {
  return memory_op("output gate", (pass == Pass::forward ? 3 : 5) * s.e * s.tokens * s.gate);
}

}  // namespace

// Turns queries and keys in place. Latent attention turns only the rotary part of the queries, and
// writes keys (with the part that all heads share) and values from one tensor into two.
void append_rotary(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  const TransformerSpec& model = job.model;
  if (model.position != PositionEncoding::rotary || pass == Pass::backward_weight) return;
  const LatentAttention& latent = model.latent;
  if (latent.kv_rank == 0) {
    ops.push_back(rotary_op(s));
    return;
  }
  const double rotary = static_cast<double>(model.heads) / job.layout.tp * latent.rotary_width;
  const double keys_and_values = 2 * (s.k + s.v) - rotary + latent.rotary_width;
  if (s.rotary_bytes == 0) {
    ops.push_back(memory_op("rotary", s.e * s.tokens * (2 * rotary + keys_and_values)));
    return;
  }
  ops.push_back(rotary_op(s.tokens * (rotary + latent.rotary_width), s));
  Op joined = memory_op("keys and values", s.e * s.tokens * keys_and_values);
  joined.starts = 2;
  ops.push_back(joined);
}

void append_latent_up(const Job& job, const Shard& s, std::vector<Op>& ops) {
  // Leaves out the down projections, which come first and whose outputs are kept.
  for (const auto append : {append_latent_queries, append_latent_keys}) {
    std::vector<Op> all;
    append(job, s, Pass::forward, all);
    const auto norm = std::ranges::find_if(
        all, [](const Op& op) { return op.name == "q norm" || op.name == "kv norm"; });
    ops.insert(ops.end(), norm, all.end());
  }
}

void append_attention_core(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  if (pass == Pass::backward_weight) return;
  if (job.software.repeated_keys && job.model.kv_heads < job.model.heads) {
    ops.push_back(repeat_op(s));
  }
  const bool backward = pass == Pass::backward_input;
  if (backward && s.gate > 0) ops.push_back(output_gate_op(s, pass));
  if (job.model.chooses_keys(job.batch.sequence)) append_choice(job, s, backward, ops);
  const bool projects = job.model.projected_keys > 0;
  if (projects && !backward) append_key_projection(job, s, backward, ops);
  append_by_shard(job, s, ops, [&](const Shard& shard) { append_kernels(job, shard, pass, ops); });
  if (projects && backward) append_key_projection(job, s, backward, ops);
  if (!backward && s.gate > 0) ops.push_back(output_gate_op(s, pass));
}

void append_unfused_forward(const TransformerSpec& model, const Shard& s, std::vector<Op>& ops) {
  const std::size_t first = ops.size();
  const double scores = s.heads * s.queries * s.keys;
  ops.push_back(attention_gemm_op("scores", s.queries, s.keys, s.query_dim, s));
  ops.push_back(memory_op("softmax", 2 * s.e * scores));
  if (model.dropout) ops.push_back(memory_op("score dropout", (2 * s.e + 1) * scores));
  ops.push_back(attention_gemm_op("context", s.queries, s.value_dim, s.keys, s));
  // Transposes from heads first to tokens first; backward q, k and v also go into one tensor.
  ops.push_back(memory_op("transpose", 2 * s.e * s.tokens * s.context));
  launch_with_first(ops, first);
}

void append_attention_inputs(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  if (pass == Pass::forward) append_inputs(job, s, pass, ops);
  append_rotary(job, s, pass, ops);
  if (pass != Pass::forward) append_inputs(job, s, pass, ops);
}

void append_projection(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  Linear projection = split_as(
      {"projection", OpRole::projection, s.tokens, s.context, s.hidden, s.tokens, s.norm_tokens},
      MatrixSplit::rows, job.layout.signatures.projection, job.layout.tp);
  projection.site = LinearSite::projection;
  append_linear(projection, pass, s, ops);
}

void append_attention(const Job& job, const Shard& s, Pass pass, std::vector<Op>& ops) {
  if (pass == Pass::forward) {
    append_attention_inputs(job, s, pass, ops);
    append_attention_core(job, s, pass, ops);
    append_projection(job, s, pass, ops);
    return;
  }
  append_projection(job, s, pass, ops);
  append_attention_core(job, s, pass, ops);
  append_attention_inputs(job, s, pass, ops);
}

}  // namespace windtunnel
