// One kernel of a training step as a GPU runs it, and the words for which part of the step it
// belongs to: the terms that transformers, layer tables, compressors and costs share.
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

// Which kernel of a transformer it is, for those that a cost is told by: products that tensor
// parallelism divides, ends of its halves, what runs beside collectives, what experts repeat.
enum class OpRole : std::uint8_t {
  other,
  query_key_value,  // these up to logits: products whose input tp gathers
  query,
  query_up,
  key_value_up,
  up,
  shared_up,
  logits,
  projection,  // these up to shared_down: products whose output tp sums
  down,
  shared_down,
  shared_other,    // of a shared expert, between and behind its products
  first_residual,  // behind attention
  block_product,   // of linear attention: within a block of rows
  quantise,        // what a product reads
};

struct Op {
  std::string_view name;  // for people: "qkv", "attention", "swiglu", ...
  OpKind kind = OpKind::memory;
  OpRole role = OpRole::other;
  // GEMM: batch products of m x k by k x n. Fused attention: batch heads, each m queries by n keys
  // of width k; on a ring, each head once per step.
  double m = 0, n = 0, k = 0, batch = 1;
  // Operations that the kernel really executes on this GPU: fused causal attention does half of
  // the full square forward (of a frame, or of all frames, which have no mask, the square), and 2.5
  // times its forward backward (Dao 2023). Unfused: the square.
  double flops = 0;
  double bytes = 0;                         // HBM bytes read and written
  std::optional<Precision> precision = {};  // the precision of a GEMM, if it is not the job's
  double launches = 1;                      // by the host
  bool further = false;                     // by the module of the op before it, with that
  bool routed = false;                      // the router decides its size: no CUDA graph holds it
  bool portable = false;                    // attention: see Software::portable_attention
  double speed = 1;                         // attention: Software::attention_speed
  bool causal = false;                      // attention: half of the square is masked
  bool scan = false;                        // of a Mamba-2 scan: see Calibration::scan_share
  bool cast_by_expert = false;              // see Calibration::expert_cast_share
  double starts = 1;                        // the number of kernels on the GPU, one after the other
  std::string_view kernel = {};             // the one of kernel_kinds() that measures it
  std::string_view second_kernel = {};      // and one behind it, where it takes two
  std::string_view compressing = {};        // the kernel's name in compression_kernels()
};

// The backward pass comes in its two parts: the gradient of the input and that of the weights.
enum class Pass { forward, backward_input, backward_weight };

// The part of every sequence between two shares of its length: what a unit of a schedule with
// slices holds. Attention sees the keys up to its end (unfused: the square up to there).
struct SequenceSlice {
  double begin = 0;
  double end = 1;
  double share() const { return end - begin; }
};

}  // namespace windtunnel
