// What the training software makes of the same mathematics: which operations share a kernel, what
// is kept in which type. The defaults are Megatron-Core with Transformer Engine.
#pragma once

namespace windtunnel {

// Of the operations between the matrix multiplications.
enum class Fusion {
  none,     // one kernel per PyTorch operation
  partial,  // bias + activation, bias + dropout + residual, softmax and norms fused by hand
};

struct Software {
  Fusion fusion = Fusion::partial;
  bool fused_loss = false;  // cross entropy in one kernel, without fp32 copies of the logits
  bool fused_rotary = true;
  double gradient_bytes = 4;  // of a parameter's gradient between micro-batches (mixed precision)
  double reduce_bytes = 4;    // of a gradient on the network
  bool tp_overlap = false;    // sequence-parallel collectives cut up and run beside their GEMM
  bool cuda_graphs = false;   // the host launches nothing
};

}  // namespace windtunnel
