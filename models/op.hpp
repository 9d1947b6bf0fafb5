// The kernels one GPU runs for a layer, the embedding or the loss head, for one micro-batch or a
// slice of it, as Megatron-Core and Transformer Engine launch them: column-parallel QKV and up
// projections, row-parallel output and down projections (Shoeybi et al. 2019, arXiv 1909.08053),
// norms and residuals over 1/tp of the sequence under sequence parallelism (Korthikanti et al.
// 2022, arXiv 2205.05198), weight gradients accumulated in fp32 by the GEMM, an unfused cross
// entropy. Latent attention: op_attention.cpp; experts: op_mlp.cpp; scaled precisions:
// op_parts.hpp.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "models/job.hpp"

namespace windtunnel {

enum class OpKind {
  gemm,                // of a linear layer
  attention_gemm,      // of unfused attention: batch = heads
  attention_forward,   // fused
  attention_backward,  // fused
  memory,              // bound by HBM bandwidth
};

struct Op {
  std::string_view name;  // "qkv", "attention", "swiglu", ...
  OpKind kind = OpKind::memory;
  // GEMM: batch products of m x k by k x n. Fused attention: batch heads, each m queries by n keys
  // of width k; on a ring, each head once per step.
  double m = 0, n = 0, k = 0, batch = 1;
  // Operations that the kernel really executes on this GPU: fused causal attention does half of
  // the full square forward (of a frame, or of all frames, which have no mask, the square), and 2.5
  // times its forward backward (Dao 2023). Unfused: the square.
  double flops = 0;
  double bytes = 0;                         // HBM bytes read and written
  std::optional<Precision> precision = {};  // of a GEMM where it is not the job's
  double launches = 1;                      // by the host
  bool routed = false;                      // the router decides its size: no CUDA graph holds it
  bool portable = false;                    // attention: see Software::portable_attention
  double starts = 1;                        // it is so many kernels on the GPU, one after the other
  std::string_view kernel = {};             // the one of kernel_kinds() that measures it
  std::string_view second_kernel = {};      // and one behind it, where it takes two
};

// The backward pass comes in its two parts: the gradient of the input and that of the weights.
enum class Pass { forward, backward_input, backward_weight };

// What stands at a place of the model.
enum class Block { layer, moe_layer, embedding, head };

// The part of every sequence between two shares of its length: what a unit of a schedule with
// slices holds. Attention sees the keys up to its end (unfused: the square up to there).
struct SequenceSlice {
  double begin = 0;
  double end = 1;
  double share() const { return end - begin; }
};

std::vector<Op> block_ops(const Job& job, Block block, Pass pass, const SequenceSlice& slice = {});

// The forward ops of a layer that recomputation repeats in the backward pass. selective: norm
// outputs, the activation product and, where attention is not fused, the scores; full: all.
std::vector<Op> recomputed_ops(const Job& job, Block block, const SequenceSlice& slice = {});

// Of one element of a tensor as a linear layer's GEMM reads it, its share of a scale included:
// what tp gathers, because Transformer Engine quantises first.
double gemm_bytes_of(Precision precision);

// One op by its name; throws InternalError when it is not there.
const Op& op_named(const std::vector<Op>& ops, std::string_view name);

}  // namespace windtunnel
