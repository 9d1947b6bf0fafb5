#include "models/op.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// The shapes of one GPU's share of a micro-batch.
struct Shard {
  double e;            // bytes of an element
  double gradient;     // bytes of a weight gradient read and written (fp32 accumulation)
  double tokens;       // rows of the GEMMs: after cp, before sequence parallelism
  double norm_tokens;  // rows of norms and residuals: divided by tp under sequence parallelism
  double hidden, q, kv, up, ffn;  // widths; q .. ffn divided by tp, kv of K and V each
  double vocabulary;
  double heads;  // batch x local heads
  double queries, keys, head_dim;
};

Shard shard_of(const Job& job) {
  const TransformerSpec& model = job.model;
  const Layout& layout = job.layout;
  const Batch& batch = job.batch;
  Shard s{};
  const double tp = layout.tp;
  s.e = bytes_of(job.precision);
  s.gradient = 8;
  s.queries = static_cast<double>(batch.sequence) / layout.cp;
  s.keys = batch.sequence;
  s.tokens = batch.micro * s.queries;
  s.norm_tokens = layout.sequence_parallel ? s.tokens / tp : s.tokens;
  s.hidden = model.hidden;
  s.q = model.hidden / tp;
  s.kv = model.kv_width() / tp;
  s.up = model.up_width() / tp;
  s.ffn = model.ffn_hidden / tp;
  s.vocabulary = padded_vocabulary(model.vocabulary, layout.tp) / tp;
  s.heads = batch.micro * model.heads / tp;
  s.head_dim = model.head_dim();
  return s;
}

Op memory_op(std::string_view name, double bytes) {
  Op op;
  op.name = name;
  op.kind = OpKind::memory;
  op.bytes = bytes;
  return op;
}

Op gemm_op(std::string_view name, double m, double n, double k, double e, double batch = 1) {
  Op op;
  op.name = name;
  op.kind = OpKind::gemm;
  op.m = m;
  op.n = n;
  op.k = k;
  op.batch = batch;
  op.flops = 2 * batch * m * n * k;
  op.bytes = batch * e * (m * k + k * n + m * n);
  return op;
}

Op attention_gemm_op(std::string_view name, double m, double n, double k, const Shard& s) {
  Op op = gemm_op(name, m, n, k, s.e, s.heads);
  op.kind = OpKind::attention_gemm;
  return op;
}

// A linear layer with `in` inputs and `out` outputs over the rows of the micro-batch.
Op linear_op(std::string_view name, Pass pass, double tokens, double in, double out,
             const Shard& s) {
  switch (pass) {
    case Pass::forward:
      return gemm_op(name, tokens, out, in, s.e);
    case Pass::backward_input:
      return gemm_op(name, tokens, in, out, s.e);
    case Pass::backward_weight:
      break;
  }
  Op op = gemm_op(name, out, in, tokens, s.e);
  op.bytes += (s.gradient - s.e) * out * in;  // accumulated in fp32, not written in e bytes
  return op;
}

Op flash_op(const Shard& s, bool backward) {
  Op op;
  op.name = "attention";
  op.kind = backward ? OpKind::attention_backward : OpKind::attention_forward;
  op.m = s.queries;
  op.n = s.keys;
  op.k = s.head_dim;
  op.batch = s.heads;
  const double square = 4 * s.heads * s.queries * s.keys * s.head_dim;  // QK^T and PV
  op.flops = (backward ? 2.5 : 1.0) * square / 2;
  // Forward reads q, k, v and writes o; backward reads these and do, writes dq, dk, dv.
  const double key_tokens = s.tokens * s.keys / s.queries;
  const double query_bytes = s.e * s.tokens * s.q;
  const double key_bytes = s.e * key_tokens * s.kv;
  op.bytes = backward ? 4 * query_bytes + 4 * key_bytes : 2 * query_bytes + 2 * key_bytes;
  return op;
}

void append_unfused_forward(const TransformerSpec& model, const Shard& s, std::vector<Op>& ops) {
  const double scores = s.heads * s.queries * s.keys;
  ops.push_back(attention_gemm_op("scores", s.queries, s.keys, s.head_dim, s));
  ops.push_back(memory_op("softmax", 2 * s.e * scores));
  if (model.dropout) ops.push_back(memory_op("score dropout", (2 * s.e + 1) * scores));
  ops.push_back(attention_gemm_op("context", s.queries, s.head_dim, s.keys, s));
}

void append_unfused_backward(const TransformerSpec& model, const Shard& s, std::vector<Op>& ops) {
  const double scores = s.heads * s.queries * s.keys;
  ops.push_back(attention_gemm_op("context (scores)", s.queries, s.keys, s.head_dim, s));
  ops.push_back(attention_gemm_op("context (values)", s.keys, s.head_dim, s.queries, s));
  if (model.dropout) ops.push_back(memory_op("score dropout", (2 * s.e + 1) * scores));
  ops.push_back(memory_op("softmax", 3 * s.e * scores));
  ops.push_back(attention_gemm_op("scores (queries)", s.queries, s.head_dim, s.keys, s));
  ops.push_back(attention_gemm_op("scores (keys)", s.keys, s.head_dim, s.queries, s));
}

Op norm_op(std::string_view name, Pass pass, const Shard& s) {
  // Forward reads x, writes y; backward reads x and dy, writes dx.
  const double vectors = pass == Pass::forward ? 2 : 3;
  return memory_op(name, vectors * s.e * s.norm_tokens * s.hidden);
}

Op residual_op(std::string_view name, const TransformerSpec& model, const Shard& s) {
  // Two reads and a write in both directions (backward: the branch's gradients are added), and
  // the dropout mask of one byte.
  const double mask = model.dropout ? 1 : 0;
  return memory_op(name, (3 * s.e + mask) * s.norm_tokens * s.hidden);
}

Op activation_op(const TransformerSpec& model, Pass pass, const Shard& s) {
  const bool swiglu = model.activation == Activation::swiglu;
  // Forward reads the up projection, writes the product; backward reads both sides' inputs and
  // writes the gradient of the up projection.
  const double elements = pass == Pass::forward ? s.up + s.ffn : 2 * s.up + s.ffn;
  return memory_op(swiglu ? "swiglu" : "gelu", s.e * s.tokens * elements);
}

Op rotary_op(const Shard& s) {
  return memory_op("rotary", 2 * s.e * s.tokens * (s.q + s.kv));
}

std::vector<Op> layer_forward(const TransformerSpec& model, const Shard& s) {
  const Pass pass = Pass::forward;
  std::vector<Op> ops;
  ops.push_back(norm_op("norm 1", pass, s));
  ops.push_back(linear_op("qkv", pass, s.tokens, s.hidden, s.q + 2 * s.kv, s));
  if (model.position == PositionEncoding::rotary) ops.push_back(rotary_op(s));
  if (model.attention == AttentionKernel::flash) {
    ops.push_back(flash_op(s, false));
  } else {
    append_unfused_forward(model, s, ops);
  }
  ops.push_back(linear_op("projection", pass, s.tokens, s.q, s.hidden, s));
  ops.push_back(residual_op("residual 1", model, s));
  ops.push_back(norm_op("norm 2", pass, s));
  ops.push_back(linear_op("up", pass, s.tokens, s.hidden, s.up, s));
  ops.push_back(activation_op(model, pass, s));
  ops.push_back(linear_op("down", pass, s.tokens, s.ffn, s.hidden, s));
  ops.push_back(residual_op("residual 2", model, s));
  return ops;
}

std::vector<Op> layer_backward_input(const TransformerSpec& model, const Shard& s) {
  const Pass pass = Pass::backward_input;
  std::vector<Op> ops;
  ops.push_back(residual_op("residual 2", model, s));
  ops.push_back(linear_op("down", pass, s.tokens, s.ffn, s.hidden, s));
  ops.push_back(activation_op(model, pass, s));
  ops.push_back(linear_op("up", pass, s.tokens, s.hidden, s.up, s));
  ops.push_back(norm_op("norm 2", pass, s));
  ops.push_back(residual_op("residual 1", model, s));
  ops.push_back(linear_op("projection", pass, s.tokens, s.q, s.hidden, s));
  if (model.attention == AttentionKernel::flash) {
    ops.push_back(flash_op(s, true));
  } else {
    append_unfused_backward(model, s, ops);
  }
  if (model.position == PositionEncoding::rotary) ops.push_back(rotary_op(s));
  ops.push_back(linear_op("qkv", pass, s.tokens, s.hidden, s.q + 2 * s.kv, s));
  ops.push_back(norm_op("norm 1", pass, s));
  return ops;
}

std::vector<Op> layer_backward_weight(const Shard& s) {
  const Pass pass = Pass::backward_weight;
  return {linear_op("down", pass, s.tokens, s.ffn, s.hidden, s),
          linear_op("up", pass, s.tokens, s.hidden, s.up, s),
          linear_op("projection", pass, s.tokens, s.q, s.hidden, s),
          linear_op("qkv", pass, s.tokens, s.hidden, s.q + 2 * s.kv, s)};
}

std::vector<Op> embedding_ops(const TransformerSpec& model, Pass pass, const Shard& s) {
  const double elements = s.tokens * s.hidden;
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
  return {memory_op("lookup", (s.e + s.gradient) * elements)};
}

// Bytes per logit of Megatron-LM's unfused vocab_parallel_cross_entropy, fp32 after the cast.
// Forward: cast (e + 4), maximum (4), subtract (8), exponential (8), sum (4), divide (8);
// backward: scale in place (8), cast (4 + e).
double cross_entropy_bytes(Pass pass, double e) {
  return pass == Pass::forward ? e + 4 + 4 + 8 + 8 + 4 + 8 : 8 + 4 + e;
}

std::vector<Op> head_ops(Pass pass, const Shard& s) {
  const Op logits = linear_op("logits", pass, s.tokens, s.hidden, s.vocabulary, s);
  if (pass == Pass::backward_weight) return {logits};
  const Op norm = norm_op("final norm", pass, s);
  const Op loss =
      memory_op("cross entropy", cross_entropy_bytes(pass, s.e) * s.tokens * s.vocabulary);
  if (pass == Pass::forward) return {norm, logits, loss};
  return {loss, logits, norm};
}

}  // namespace

std::vector<Op> block_ops(const Job& job, Block block, Pass pass) {
  const Shard s = shard_of(job);
  switch (block) {
    case Block::embedding:
      return embedding_ops(job.model, pass, s);
    case Block::head:
      return head_ops(pass, s);
    case Block::moe_layer:
    case Block::layer:
      break;
  }
  switch (pass) {
    case Pass::forward:
      return layer_forward(job.model, s);
    case Pass::backward_input:
      return layer_backward_input(job.model, s);
    case Pass::backward_weight:
      break;
  }
  return layer_backward_weight(s);
}

std::vector<Op> recomputed_ops(const Job& job, Block block) {
  if (job.recompute == Recompute::none) return {};
  const Shard s = shard_of(job);
  if (job.recompute == Recompute::full) return block_ops(job, block, Pass::forward);
  std::vector<Op> ops = {norm_op("norm 1", Pass::forward, s)};
  if (job.model.attention == AttentionKernel::unfused) {
    append_unfused_forward(job.model, s, ops);
    ops.pop_back();  // the context product: its output is kept
  }
  ops.push_back(norm_op("norm 2", Pass::forward, s));
  ops.push_back(activation_op(job.model, Pass::forward, s));
  return ops;
}

const Op& op_named(const std::vector<Op>& ops, std::string_view name) {
  const auto at =
      std::find_if(ops.begin(), ops.end(), [&](const Op& op) { return op.name == name; });
  CHECK(at != ops.end(), "no op '{}'", name);
  return *at;
}

}  // namespace windtunnel
