// The kernels one GPU runs for a layer, the embedding or the loss head, for one micro-batch.
#pragma once

#include <string_view>
#include <vector>

#include "models/layout.hpp"
#include "models/transformer.hpp"

namespace windtunnel {

enum class OpKind { gemm, attention_forward, attention_backward, memory };

struct Op {
  std::string_view name;     // "qkv", "attention", "swiglu", ...
  OpKind kind = OpKind::memory;
  double m = 0, n = 0, k = 0, batch = 1;  // GEMM: batch products of m x k by k x n
  double flops = 0;          // hardware FLOPs of this kernel on this GPU
  double bytes = 0;          // HBM bytes read and written
};

// The backward pass comes in its two parts: the gradient of the input and that of the weights.
enum class Pass { forward, backward_input, backward_weight };

// What stands at a place of the model.
enum class Block { layer, embedding, head };

std::vector<Op> block_ops(const TransformerSpec& model, const Layout& layout, const Batch& batch,
                          Precision precision, Block block, Pass pass);

// The forward ops of a layer that selective recomputation repeats in the backward pass (attention
// scores are inside flash attention; here: norm outputs, activation product).
std::vector<Op> recomputed_ops(const TransformerSpec& model, const Layout& layout,
                               const Batch& batch, Precision precision, Recompute recompute);

}  // namespace windtunnel
