// Software::fusion decides which kernels run between a layer's products, and so their number and
// HBM bytes. Internal to the op*.cpp files.
//
// Plain PyTorch (none, compiled) was measured kernel by kernel in training steps on one H200
// (validate/harness/pytorch/measure_steps.py --profile; docs/results/validation-h200.md). Elements
// have Shard::e bytes unless stated otherwise.
#pragma once

#include <string_view>

#include "models/cost/op/op_parts.hpp"

namespace windtunnel {

// A norm of a layer or the head. Forward reads x, writes y; backward reads x and dy, writes dx.
// PyTorch sums the gradient of the norm's scale in another kernel, which reads x and dy again.
// `joined`: the norm follows a residual sum. A compiler fuses it into the sum's kernel, where it
// only writes.
enum class NormPlace { alone, joined };
Op norm_op(std::string_view name, Pass pass, const Shard& s, NormPlace place = NormPlace::alone);
// A norm whose rows have another width, such as those of latent vectors.
Op norm_op(std::string_view name, Pass pass, double width, const Shard& s,
           NormPlace place = NormPlace::alone);

// A residual sum has two reads and a write in both directions (backward adds the branches'
// gradients), and the one-byte dropout mask. If compiled, backward is an additional operand of the
// norm's kernel.
Op residual_op(std::string_view name, Pass pass, const TransformerSpec& model, const Shard& s);

// The activation function between two matrices of an MLP of width `ffn`, for `rows` rows. Forward
// reads the up projection and writes the product; backward reads the inputs of both sides and
// writes the gradient of the up projection. SwiGLU with one kernel per operation also writes and
// reads the gate's activation; its backward takes three kernels of two reads and a write and, if
// gate and up projection are one product, concatenates their gradients.
Op activation_op(std::string_view name, Pass pass, const TransformerSpec& model, double rows,
                 double ffn, const Shard& s);

// Rotates queries and keys, in one kernel in place or as given by Software::rotary_bytes.
Op rotary_op(const Shard& s);
Op rotary_op(double elements, const Shard& s);

// Writes key and value heads once for each query head that reads them, or in the backward pass sums
// over these (Software::repeated_keys). Counts twice the bytes, because its strided copies reach
// half the bandwidth of other kernels (1.1 and 1.9 TB/s on the H200).
Op repeat_op(const Shard& s);

// In the backward pass, sums the gradients of separate products with the same input: a kernel for
// each after the first, or an additional operand of the preceding norm's kernel.
Op gradient_sum_op(const Linear& linear, const Shard& s);

}  // namespace windtunnel
