#include "models/cost/op/element_wise.hpp"

namespace windtunnel {
namespace {

// Marks a kernel that is part of a module: the host's time for the module includes it.
Op part_of_module(Op op) {
  op.launches = 0;
  return op;
}

Op in_kernels(Op op, double kernels) {
  op.starts = kernels;
  return op;
}

// Vectors of `ffn` moved by clamping around a gated activation: a kernel reads and writes each half
// (backward it reads the half and its gradient), and one joins them
// (megatron/core/fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl, core_v0.16.0). Halves
// are strided: 1.5 times the bytes (Software::rotary_bytes).
double clamp_vectors(bool forward) {
  constexpr double kStrided = 1.5;
  return kStrided * 2 * (forward ? 2 : 3) + 4;
}

}  // namespace

Op norm_op(std::string_view name, Pass pass, const Shard& s, NormPlace place) {
  return norm_op(name, pass, s.hidden, s, place);
}

Op norm_op(std::string_view name, Pass pass, double width, const Shard& s, NormPlace place) {
  const double vector = s.e * s.norm_tokens * width;
  if (pass == Pass::forward) {
    const bool writes_only = place == NormPlace::joined && s.sums_joined;
    return memory_op(name, (writes_only ? 1 : 2) * vector);
  }
  if (s.fused_norms || !s.trains) return memory_op(name, 3 * vector);
  return in_kernels(memory_op(name, 5 * vector), 2);
}

Op residual_op(std::string_view name, Pass pass, const TransformerSpec& model, const Shard& s) {
  const double mask = model.dropout ? 1 : 0;
  const bool operand_only = pass == Pass::backward_input && s.sums_joined;
  const double vectors = operand_only ? 1 : 3;
  return memory_op(name, (vectors * s.e + mask) * s.norm_tokens * s.hidden);
}

Op activation_op(std::string_view name, Pass pass, const TransformerSpec& model, double rows,
                 double ffn, const Shard& s) {
  const bool forward = pass == Pass::forward;
  const bool gated = model.activation == Activation::swiglu;
  const double up = gated ? 2 * ffn : ffn;
  // Separate kernels cast the tensor kept in fp8, and cast it back.
  const bool casts = gated && s.fp8_activation_inputs;
  double further = casts ? (s.e + 1) * rows * up : 0;
  double further_kernels = casts ? 1 : 0;
  if (gated && model.clamped_activation && s.fusion != Fusion::compiled) {
    further += s.e * rows * ffn * clamp_vectors(forward);
    further_kernels += 3;
  }
  const auto in = [&](double bytes, double kernels) {
    return in_kernels(memory_op(name, bytes + further), kernels + further_kernels);
  };
  if (!gated || s.fusion != Fusion::none) {
    return in(s.e * rows * (forward ? up + ffn : 2 * up + ffn), 1);
  }
  if (forward) return in(s.e * rows * 5 * ffn, 2);
  const double joined = s.separate ? 0 : 2 * up;
  return in(s.e * rows * (9 * ffn + joined), s.separate ? 3 : 4);
}

Op rotary_op(const Shard& s) {
  return rotary_op(s.tokens * (s.q + s.k), s);
}

Op rotary_op(double elements, const Shard& s) {
  if (s.rotary_bytes == 0) {
    return memory_op("rotary", 2 * s.e * elements);
  }
  // A kernel moves about 8 bytes per element of its tensor.
  return in_kernels(memory_op("rotary", s.rotary_bytes * elements), 2 * s.rotary_bytes / 8);
}

Op repeat_op(const Shard& s) {
  const double bytes = s.e * s.tokens * (s.k + s.v + 2 * s.q);
  return part_of_module(in_kernels(memory_op("repeated keys", 2 * bytes), 2));
}

Op gradient_sum_op(const Linear& linear, const Shard& s) {
  const double others = linear.products - 1;
  const double vectors = (s.sums_joined ? 1 : 3) * others;
  const Op sum = memory_op("gradient sum", vectors * s.e * linear.batch * linear.rows * linear.in);
  return part_of_module(in_kernels(sum, s.sums_joined ? 1 : others));
}

}  // namespace windtunnel
