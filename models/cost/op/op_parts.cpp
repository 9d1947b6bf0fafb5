#include "models/cost/op/op_parts.hpp"

#include <algorithm>

#include "models/cost/op/element_wise.hpp"
#include "models/workload/context_traffic.hpp"
#include "models/workload/expert_routing.hpp"

namespace windtunnel {
namespace {

// Describes how an operand of a linear layer's GEMM is stored.
struct Format {
  double bytes = 0;     // of one element, its share of a scale included
  double quantise = 0;  // HBM bytes per element: 16 bit read, rows and columns written
};

Format format_of(Precision precision) {
  constexpr double kRead = 2;
  switch (precision) {
    case Precision::fp8:  // read twice, because the tensor's maximum comes first
      return {1, 2 * kRead + 2};
    case Precision::mxfp8: {
      constexpr double kBytes = 1 + 1.0 / 32;
      return {kBytes, kRead + 2 * kBytes};
    }
    // Two levels of scales, the upper one for the whole tensor, so its maximum is computed first.
    // Columns are rotated (Hadamard) before scaling, in a separate pass.
    case Precision::nvfp4: {
      constexpr double kBytes = 0.5 + 1.0 / 16;
      return {kBytes, 3 * kRead + 2 * kBytes};
    }
    default:
      return {bytes_of(precision), 0};
  }
}

Op gemm_op(const Linear& linear, Pass pass, double operand, double output, double gradient) {
  Op op;
  op.name = linear.name;
  op.role = linear.role;
  op.kind = OpKind::gemm;
  op.batch = linear.batch;
  op.m = linear.rows;
  op.n = linear.out;
  op.k = linear.in;
  if (pass == Pass::backward_input) std::swap(op.n, op.k);
  if (pass == Pass::backward_weight) {
    op.m = linear.out;
    op.n = linear.in;
    op.k = linear.rows;
    output = gradient;
  }
  op.flops = 2 * op.batch * op.m * op.n * op.k;
  op.bytes = op.batch * (operand * (op.m * op.k + op.k * op.n) + output * op.m * op.n);
  return op;
}

void set_training(const Job& job, Shard& s) {
  const Training* training = job.training.get();
  const PartTraining part = part_training(training);
  s.trains = part.weights;
  s.adapter = part.adapter ? &training->adapter : nullptr;
  const bool quantised = training != nullptr && training->adapter.kind == AdapterKind::qlora;
  s.dequantise = quantised ? kNf4Bytes + s.operand : 0;  // reads 4 bits, writes the operand
}

// Returns the number of outputs of each adapter pair that adds to this product.
std::vector<double> adapted_outputs(const Linear& linear, const Shard& s) {
  if (s.adapter == nullptr || !s.adapter->on(linear.site)) return {};
  if (linear.role == OpRole::query_key_value || linear.site == LinearSite::up) {
    if (s.adapter->joins(linear.site)) return {linear.out};
  }
  if (linear.site == LinearSite::up && s.gated) return {linear.out / 2, linear.out / 2};
  if (linear.role != OpRole::query_key_value) return {linear.out};
  const double share = linear.out / (s.q + s.k + s.v + s.gate);
  std::vector<double> outputs;
  if (s.adapter->queries) outputs.push_back(share * s.q);
  if (s.adapter->keys) outputs.push_back(share * s.k);
  if (s.adapter->values) outputs.push_back(share * s.v);
  return outputs;
}

// Adds the products with the factors A and B of one adapter pair, in 16 bit. In both directions
// their result is added to the base product's: in a separate kernel, in the compiled kernel that
// reads the result next, or in one of the products (Software::fused_adapters). DoRA's norms of
// W + A B are constants of the backward pass (section 4.3).
void append_adapter(const Linear& linear, double out, Pass pass, const Shard& s,
                    std::vector<Op>& ops) {
  const double rank = s.adapter->rank;
  const auto linear_of = [&](std::string_view name, double in, double outputs) {
    Linear factor{name, OpRole::other, linear.rows, in, outputs};
    factor.batch = linear.batch;
    return factor;
  };
  const auto append = [&](Op op) {
    op.further = true;  // the module of the product launches it
    ops.push_back(op);
  };
  const auto gemm = [&](const Linear& factor) {
    Op op = gemm_op(factor, pass, s.e, s.e, s.gradient);
    if (s.quantise > 0) op.precision = Precision::bf16;
    return op;
  };
  const Linear first = linear_of("adapter A", linear.in, rank);
  const Linear second = linear_of("adapter B", rank, out);
  const double rows = linear.batch * linear.rows;
  const double weights = linear.batch * linear.in * out;
  const bool dora = s.adapter->kind == AdapterKind::dora;
  const Op dropout = memory_op("adapter dropout", (2 * s.e + 1) * rows * linear.in);
  Linear weights_of_both{"adapter product", OpRole::other, linear.in, rank, out};
  weights_of_both.batch = linear.batch;
  // Adds the product of the last factor, with `columns` columns, and its sum with the base's
  // output. If fused, one of the two products adds onto the other's output; if a dropout mask lies
  // between, that is the base's product.
  const auto append_sum = [&](const Linear& last, double columns, bool masked) {
    Op product = gemm(last);
    if (s.fused_adapters) product.bytes += s.e * rows * columns;
    append(product);
    if (masked) append(dropout);
    if (s.fused_adapters) return;
    const bool compiled = s.fusion == Fusion::compiled;
    Op sum = memory_op("adapter sum", (compiled ? 1 : 3) * s.e * rows * columns);
    if (compiled) sum.launches = 0;
    append(sum);
  };
  switch (pass) {
    case Pass::forward:
      if (s.adapter->dropout) append(dropout);
      append(gemm(first));
      append_sum(second, out, false);
      if (!dora) return;
      // DoRA computes A B, its sum with W and that sum's norms, and scales the outputs by
      // magnitudes.
      append(gemm(weights_of_both));
      append(memory_op("weight norms", 4 * s.e * weights));
      append(memory_op("magnitudes", 2 * s.e * rows * out));
      return;
    case Pass::backward_input:
      if (dora) append(memory_op("magnitudes", 2 * s.e * rows * out));
      append(gemm(second));
      append_sum(first, linear.in, s.adapter->dropout);
      return;
    case Pass::backward_weight:
      if (dora) append(memory_op("magnitudes", 2 * s.e * rows * out));
      append(gemm(second));
      if (s.adapter->trains_first()) append(gemm(first));
      return;
  }
}

}  // namespace

bool fp8_in_any_layout(const GpuSpec& gpu) {
  return gpu.generation == GpuGeneration::blackwell;
}

double gemm_bytes_of(Precision precision) {
  return format_of(precision).bytes;
}

Shard shard_of(const Job& job, const SequenceSlice& slice) {
  const TransformerSpec& model = job.model;
  const Layout& layout = job.layout;
  const Batch& batch = job.batch;
  const double tp = layout.tp;
  const Format format = format_of(job.precision);
  const bool latent = model.latent.kv_rank > 0;
  Shard s{};
  s.e = bytes_of(job.precision);
  s.operand = format.bytes;
  s.quantise = format.quantise;
  const bool any_layout =
      job.precision == Precision::fp8 && fp8_in_any_layout(job.cluster.node.gpu);
  if (any_layout) s.quantise -= format.bytes;  // rows alone are written
  const bool transposes = job.precision == Precision::fp8 && job.software.scaled_copies &&
                          !job.software.weight_transposes && !any_layout;
  s.transpose = transposes ? 2 * format.bytes : 0;
  s.casts_inside = job.precision == Precision::fp8;
  s.steps_share = microbatch_share(layout, batch) * slice.share();
  s.gradient = 2 * (is_mixed(job.precision) ? job.software.gradient_bytes : 4);
  s.ring = layout.ring_ranks();
  s.ulysses = layout.ulysses_ranks();
  const double key_heads = latent ? model.heads / tp : model.kv_heads / tp;
  s.key_copies = s.ulysses > 1 ? key_copies(key_heads, layout.ulysses_ranks()) : 1;
  s.queries = slice.share() * batch.sequence / s.ring;
  s.keys = slice.end * batch.sequence;
  s.attended = model.masked() ? (slice.begin + slice.end) / 2 * batch.sequence : s.keys;
  s.in_window = 1;
  s.tokens = batch.micro * s.queries / layout.exchange_ranks();
  s.norm_tokens = layout.sequence_parallel ? s.tokens / tp : s.tokens;
  s.hidden = model.hidden;
  s.q = model.q_width() / tp;
  s.k = (latent ? model.q_width() : model.kv_width()) / tp;
  s.v = (latent ? model.context_width() : model.kv_width()) / tp;
  s.context = model.context_width() / tp;
  s.gate = model.attention_gate ? s.context : 0;
  s.up = model.up_width() / tp;
  s.ffn = model.ffn_hidden / tp;
  s.vocabulary = padded_vocabulary(model.vocabulary, layout.tp) / tp;
  s.heads = batch.micro * model.heads / tp / layout.exchange_ranks();
  s.query_dim = model.query_dim();
  s.value_dim = model.value_dim();
  s.routed = s.tokens / tp * model.moe.per_token;
  s.expert_rows = s.routed * expert_load(model.moe, layout.ep).busiest();
  s.local_experts = static_cast<double>(model.moe.experts) / layout.ep;
  s.gated = model.activation == Activation::swiglu;
  s.fusion = job.software.fusion;
  s.fused_adapters = job.software.fused_adapters;
  s.separate = model.separate_projections && s.fusion != Fusion::partial;
  s.sums_joined = s.fusion == Fusion::compiled && layout.tp == 1;
  s.fused_norms = s.fusion == Fusion::partial || job.software.fused_norms;
  const bool unfused_rotary =
      s.fusion == Fusion::none || (s.fusion == Fusion::partial && model.scaled_rotary);
  s.rotary_bytes = unfused_rotary ? job.software.rotary_bytes : 0;
  s.fp8_activation_inputs = job.software.fp8_activation_inputs;
  set_training(job, s);
  return s;
}

Shard shard_of(const Job& job, Block block, const SequenceSlice& slice) {
  Shard s = shard_of(job, part_of(job, block, slice));
  const double share = job.model.rows_share(block, job.batch.sequence);
  if (share == 1) return s;
  s.steps_share /= share;
  if (block == Block::encoder_layer) s.attended = s.keys;
  if (block == Block::head) s.norm_tokens /= share;  // each stack ends in a norm
  return s;
}

namespace {

// Number of queries in a tile of a fused kernel; the kernel computes all keys that any of them
// sees. Forward passes: FlashAttention-2 and -3 take 128 (github.com/Dao-AILab/flash-attention
// 07602adc, csrc/flash_attn/src/flash_fwd_launch_template.h and hopper/tile_size.h),
// FlashAttention-4 on Blackwell two tiles of 128 (flash_attn/cute/flash_fwd_sm100.py, q_stage).
// cuDNN does not publish its tiles; on Blackwell it counts as FlashAttention-4, as backward passes
// suggest (tests/published/named_kernels_test.cpp). One case is left out: for heads of up to 96
// FlashAttention-3 takes 192 forward (backward 128: hopper/flash_bwd_launch_template.h).
double tile_queries(const GpuSpec& gpu) {
  return gpu.generation == GpuGeneration::blackwell ? 256 : 128;
}

// At the far edge of a window, as at a causal diagonal, half of the keys computed in a tile are
// outside of the window.
void set_window(const Job& job, double begin, double end, Shard& shard) {
  const double edge = tile_queries(job.cluster.node.gpu) / 2;
  const double seen = windowed_keys(job.model, begin, end);
  const double computed = std::min(seen + edge, shard.attended);
  shard.attended = seen;
  shard.in_window = seen / computed;
  shard.reach = job.model.masked() ? 2 * computed : computed;
}

// Shards for layers with a window and layers without, weighted by their shares of the layers.
std::vector<Shard> window_shards(const Job& job, const Shard& s) {
  const double end = s.keys;
  const double begin = job.model.masked() ? 2 * s.attended - end : 0;
  const double global = job.model.global_share();
  std::vector<Shard> shards;
  for (const bool windowed : {false, true}) {
    const double share = windowed ? 1 - global : global;
    if (share == 0) continue;
    Shard& shard = shards.emplace_back(s);
    shard.tokens *= share;
    shard.heads *= share;
    if (windowed) set_window(job, begin, end, shard);
  }
  return shards;
}

}  // namespace

// Attention over latent vectors of chosen keys, shared by all heads: queries are first multiplied
// to the width of these, and the output back afterwards, instead of decompressing keys and values.
Shard chosen_shard(const Job& job, const Shard& s) {
  const LatentAttention& latent = job.model.latent;
  Shard shard = s;
  const double end = s.keys;
  shard.attended =
      limited_keys(job.model, job.model.sparse.top_k, std::max(0.0, 2 * s.attended - end), end);
  shard.query_dim = latent.kv_rank + latent.rotary_width;
  shard.value_dim = latent.kv_rank;
  const double heads = double(job.model.heads) / job.layout.tp;
  shard.q = heads * shard.query_dim;
  shard.context = heads * shard.value_dim;
  shard.k = shard.query_dim;
  shard.v = 0;  // values are the same vectors as keys
  return shard;
}

// Projected keys and values are few, and every rank has them all.
Shard projected_shard(const Job& job, const Shard& s) {
  Shard shard = s;
  shard.keys = shard.attended = job.model.keys_of(job.batch.sequence);
  shard.ring = 1;
  return shard;
}

std::vector<Shard> attention_shards(const Job& job, const Shard& s) {
  if (job.model.chooses_keys(job.batch.sequence)) return {chosen_shard(job, s)};
  if (job.model.projected_keys > 0) return {projected_shard(job, s)};
  if (job.model.windowed(job.batch.sequence)) return window_shards(job, s);
  if (job.model.frames == 0) return {s};
  const double sequence = job.batch.sequence;
  std::vector<Shard> halves;
  for (const double length : {sequence / job.model.frames, double(job.model.frames)}) {
    Shard& half = halves.emplace_back(s);
    half.tokens = s.tokens / 2;
    half.heads = s.heads * sequence / length / 2;
    half.queries = length / s.ring;
    half.keys = half.attended = length;
  }
  return halves;
}

Op memory_op(std::string_view name, double bytes, OpRole role) {
  Op op;
  op.name = name;
  op.role = role;
  op.kind = OpKind::memory;
  op.bytes = bytes;
  return op;
}

void append_linear(const Linear& linear, Pass pass, const Shard& s, std::vector<Op>& ops) {
  if (s.quantise > 0 && pass != Pass::backward_weight) {
    const bool forward = pass == Pass::forward;
    const double given = forward ? linear.input_rows : linear.gradient_rows;
    const double rows = given > 0 ? given : linear.batch * linear.rows;
    const bool cast = forward ? linear.input_cast : linear.gradient_cast;
    double elements = cast && s.casts_inside ? 0 : rows * (forward ? linear.in : linear.out);
    // Weights that a step does not change stay quantised.
    if (forward && s.trains) elements += s.steps_share * linear.batch * linear.in * linear.out;
    if (elements > 0) {
      Op cast = memory_op("quantise", s.quantise * elements, OpRole::quantise);
      cast.cast_by_expert = linear.batch > 1;
      ops.push_back(cast);
    }
  }
  if (pass == Pass::backward_input && s.transpose > 0) {
    const double weights = linear.batch * linear.in * linear.out;
    ops.push_back(memory_op("transpose", s.transpose * weights, OpRole::quantise));
  }
  const bool has_site = linear.site != LinearSite::none;
  if (s.dequantise > 0 && has_site && pass != Pass::backward_weight) {
    ops.push_back(memory_op("dequantise", s.dequantise * linear.batch * linear.in * linear.out));
  }
  Op gemm = gemm_op(linear, pass, s.operand, s.e, s.gradient);
  if (s.separate) gemm.starts = linear.products;
  ops.push_back(pass == Pass::backward_weight && !s.trains ? not_run(gemm) : gemm);
  for (const double out : adapted_outputs(linear, s)) append_adapter(linear, out, pass, s, ops);
  if (s.separate && linear.products > 1 && pass == Pass::backward_input) {
    ops.push_back(gradient_sum_op(linear, s));
  }
}

Linear split_as(Linear linear, MatrixSplit usual, MatrixSplit split, double tp) {
  if (split == usual) return linear;
  const double wider = split == MatrixSplit::rows ? tp : 1 / tp;
  linear.out *= wider;
  linear.in /= wider;
  return linear;
}

Op plain_linear_op(const Linear& linear, Pass pass, double output_bytes, const Job& job,
                   const Shard& s) {
  Op op = gemm_op(linear, pass, s.e, output_bytes, s.gradient);
  if (is_scaled(job.precision)) op.precision = Precision::bf16;
  return pass == Pass::backward_weight && !s.trains ? not_run(op) : op;
}

}  // namespace windtunnel
