// Classifies the work of a GPU by the name of the kernel, so that a captured step can be compared
// with a predicted one. Names are those of cuBLAS, CUTLASS, cuDNN, FlashAttention, Transformer
// Engine, Apex, PyTorch, Triton (as torch.compile names them), NCCL and RCCL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

enum class WorkKind : std::uint8_t {
  product,        // matrix products and convolutions
  attention,      // fused attention
  norm,           // normalisation layers and softmax
  element_wise,   // all other kernels, bound by memory bandwidth
  optimizer,      // updates of weights, and norms of gradients
  copy,           // copies and fills of memory by a copy engine
  communication,  // collectives and messages
};
inline constexpr int kWorkKinds = 7;
// Names in reports, in this order.
const std::vector<std::string>& names_of(WorkKind);

// Only for kernels: copies and fills of memory are identified by their event.
WorkKind kind_of_kernel(std::string_view name);

}  // namespace windtunnel
