// One kernel of a training step as a GPU runs it, and the part of the step that it belongs to.
// Transformers, layer tables, compressors and cost models share these types.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/base/precision.hpp"
#include "models/workload/block.hpp"

namespace windtunnel {

enum class OpKind {
  gemm,                // of a linear layer
  attention_gemm,      // of unfused attention: batch = heads
  attention_forward,   // fused
  attention_backward,  // fused
  memory,              // bound by HBM bandwidth
};

// Which kernel of a transformer it is. Costs depend on it: products divided by tensor parallelism,
// the ends of attention and MLP, work that overlaps collectives, work repeated per expert.
enum class OpRole : std::uint8_t {
  other,
  query_key_value,  // from here to logits: tp gathers the input of the product
  query,
  query_up,
  key_value_up,
  up,
  shared_up,
  logits,
  projection,  // from here to shared_down: tp sums the output of the product
  down,
  shared_down,
  shared_other,    // of a shared expert: between and after its products
  first_residual,  // the residual sum after attention
  block_product,   // of linear attention: within a block of rows
  quantise,        // quantises the input of a product
};

struct Op {
  std::string_view name;  // for people: "qkv", "attention", "swiglu", ...
  OpKind kind = OpKind::memory;
  OpRole role = OpRole::other;
  // GEMM: `batch` products of m x k by k x n. Fused attention: `batch` heads with m queries, n keys
  // and width k; on a ring, each head counts once per ring step.
  double m = 0, n = 0, k = 0, batch = 1;
  // Operations that the kernel executes on this GPU. Fused causal attention does half of the full
  // square in the forward pass (without a mask, as in frames, the full square), and 2.5 times that
  // in the backward pass (Dao 2023). Unfused: the full square.
  double flops = 0;
  double bytes = 0;                         // HBM bytes read and written
  std::optional<Precision> precision = {};  // of a GEMM, if it differs from the job's
  double launches = 1;                      // number of launches by the host
  bool further = false;          // launched by the module of the op before, in the same loop
  bool routed = false;           // its size depends on the router, so no CUDA graph can hold it
  bool portable = false;         // attention: see Software::portable_attention
  double speed = 1;              // attention: Software::attention_speed
  bool causal = false;           // attention: half of the square is masked
  bool scan = false;             // part of a Mamba-2 scan: see Calibration::scan_share
  bool cast_by_expert = false;   // see Calibration::expert_cast_share
  double starts = 1;             // number of kernels on the GPU, one after the other
  std::string_view kernel = {};  // the kernel of kernel_kinds() that measures it
  std::string_view second_kernel = {};  // a second one, if it consists of two
  std::string_view compressing = {};    // its name in compression_kernels()
};

// The backward pass is split into the gradient of the input and that of the weights.
enum class Pass { forward, backward_input, backward_weight };

// A part of every sequence, from one fraction of its length to another: the content of a slice in a
// schedule. Attention reads the keys up to its end (unfused: computes the square up to there).
struct SequenceSlice {
  double begin = 0;
  double end = 1;
  double share() const { return end - begin; }
};

}  // namespace windtunnel
