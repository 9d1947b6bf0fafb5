// The kernels between a layer's products, as Software::fusion has them: what each moves through HBM
// and how many kernels it is on the GPU. For the op*.cpp files alone.
//
// Plain PyTorch (none, compiled) was measured kernel by kernel in training steps on one H200
// (validate/harness/pytorch/measure_steps.py --profile; docs/results/validation-h200.md). Elements
// are those of Shard::e bytes unless bytes are told.
#pragma once

#include <string_view>

#include "models/cost/op/op_parts.hpp"

namespace windtunnel {

// Of a layer or the head. Forward reads x, writes y; backward reads x and dy, writes dx. PyTorch's
// sums up the gradient of its scale in a further kernel, which reads x and dy once more. `joined`:
// behind the sum of a residual, in whose kernel a compiler puts it; it writes only.
enum class NormPlace { alone, joined };
Op norm_op(std::string_view name, Pass pass, const Shard& s, NormPlace place = NormPlace::alone);
// The same of rows of another width, as latent vectors are.
Op norm_op(std::string_view name, Pass pass, double width, const Shard& s,
           NormPlace place = NormPlace::alone);

// Two reads and a write in both directions (backward: the branch's gradients are added), and the
// dropout mask of one byte. Compiled, backward is one more operand of the norm's kernel.
Op residual_op(std::string_view name, Pass pass, const TransformerSpec& model, const Shard& s);

// The activation of `rows` rows between two matrices of an MLP of width `ffn`. Forward reads the up
// projection, writes the product; backward reads both sides' inputs, writes the gradient of the up
// projection. SwiGLU one kernel per operation: the gate's activation is written and read; backward
// takes three kernels of two reads and a write and, where gate and up projection are one product,
// joins their gradients.
Op activation_op(std::string_view name, Pass pass, const TransformerSpec& model, double rows,
                 double ffn, const Shard& s);

// Turns queries and keys, in one kernel in place or as Software::rotary_bytes says.
Op rotary_op(const Shard& s);
Op rotary_op(double elements, const Shard& s);

// Key and value heads written once for each query head that reads them, or backward summed over
// these (Software::repeated_keys). Twice the bytes, as its strided copies reach half of what others
// do (1.1 and 1.9 TB/s on the H200).
Op repeat_op(const Shard& s);

// Backward, the gradients of separate products of one input are summed up: a kernel for each after
// the first, or one more operand of the norm behind it.
Op gradient_sum_op(const Linear& linear, const Shard& s);

}  // namespace windtunnel
