// What a GPU did, told by the name of its kernel: the classes by which a captured step is held
// against a predicted one. Names are those of cuBLAS, CUTLASS, cuDNN, FlashAttention, Transformer
// Engine, Apex, PyTorch, Triton (as torch.compile names them), NCCL and RCCL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

enum class WorkKind : std::uint8_t {
  product,        // matrix products and convolutions
  attention,      // fused
  norm,           // of layers, and softmax
  element_wise,   // all other kernels: what memory bandwidth bounds
  optimizer,      // updates of weights, norms of gradients
  copy,           // of memory by a copy engine, and its filling
  communication,  // collectives and messages
};
inline constexpr int kWorkKinds = 7;
// As reports have them, in this order.
const std::vector<std::string>& names_of(WorkKind);

// Of a kernel; a copy or a fill of memory is told by its event and not by its name.
WorkKind kind_of_kernel(std::string_view name);

}  // namespace windtunnel
