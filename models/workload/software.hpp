// How the training software implements the mathematics: which operations share a kernel, and which
// data types are kept. The defaults are Megatron-Core with Transformer Engine.
#pragma once

namespace windtunnel {

// How far the operations between matrix multiplications are fused.
enum class Fusion {
  none,      // one kernel per PyTorch operation
  partial,   // bias + activation, bias + dropout + residual, softmax and norms fused by hand
  compiled,  // plain PyTorch whose compiler fuses the operations between two products of a layer
};

// What a pipeline rank does when it has a result for another one.
enum class Sends {
  asynchronous,  // it sends in the background
  blocking,      // it computes again once its message has been sent
  // a message is sent when the receiver, too, has finished what it computes before using it; both
  // wait (batched send and receive)
  synchronous,
};

// What overlaps collectives of tensor parallelism: models/cost/parallel/tensor_parallel.hpp.
enum class TensorOverlap { none, pipelined, domino, sub_pipelined, fused, ladder, kraken };

// One controller tells all hosts to start each program (Pathways: Barham et al. 2022, arXiv
// 2203.12533, sections 4.3 to 4.5): policies/evaluation/dispatch.hpp.
enum class DispatchMode {
  asynchronous,  // as early as needed, while the previous program runs
  synchronous,   // when the program's inputs are ready
};
enum class DispatchProgram {
  step,  // an iteration of all ranks
  pass,  // an action of the schedule, on the ranks of its pipeline stage
};
// Ranks that start a program together, when the last of them is ready.
enum class DispatchGang {
  none,    // each rank starts when it is ready
  island,  // the program's ranks in one site
  all,     // all ranks of the program
};

// What the optimizer keeps per parameter, apart from gradient and fp32 copy: two moments, one, or
// nothing. `muon`: one momentum, and updates of matrices are orthogonalised (Jordan et al. 2024,
// github.com/KellerJordan/Muon); embedding, head and vectors use Adam (Liu et al. 2025, arXiv
// 2502.16982, section 2.2).
enum class Optimizer { adam, momentum, sgd, muon };
constexpr int moments(Optimizer optimizer) {
  if (optimizer == Optimizer::adam) return 2;
  return optimizer == Optimizer::sgd ? 0 : 1;
}

// Which copies of the weights a snapshot contains, in addition to the optimizer's moments.
enum class SnapshotWeights {
  all,          // all copies that exist
  fp32_shards,  // with sharded weights (zero3) only the fp32 copy; otherwise all
  compute,      // only the 16-bit copy
};

struct Software {
  Fusion fusion = Fusion::partial;
  // HBM bytes of rotary positions with one kernel per operation, per element of queries and keys
  // and direction. The value is 1.5 times the bytes moved, because strided kernels reach a third to
  // a half of the bandwidth. Rotating halves in fp32 (two casts, four products, two sums) moves 48
  // B and counts for 75 (measured on an H200). Complex numbers in fp32 (casts and a product:
  // Llama's reference code, torchtitan) move 20 B: 35, assumed. Halves in 16 bit (Megatron-Core's
  // rope_utils.py, with one more copy of the sum) move 24 B: 35, assumed. 0: one kernel in place.
  double rotary_bytes = 35;
  // Norms in plain PyTorch use one kernel per direction, which includes the gradient of the scale
  // (FlashAttention's Triton kernels).
  bool fused_norms = false;
  // Keys and values are copied for each query head before attention, because the attention kernel
  // requires as many key heads as query heads.
  bool repeated_keys = false;
  bool fused_loss = false;  // cross entropy in one kernel, without fp32 copies of the logits
  // bytes of a parameter's gradient between micro-batches (mixed precision)
  double gradient_bytes = 4;
  double reduce_bytes = 4;  // per parameter, on the network
  TensorOverlap tp_overlap = TensorOverlap::none;
  bool ep_overlap = false;  // all-to-alls of one micro-batch overlap the compute of another
  bool ep_merged = false;  // a token is sent once per node (within one node: once per rank): DeepEP
  // GPUs write all-to-alls directly, as they do if ep_merged is set (pplx-garden, DeepEP's
  // low-latency kernels).
  bool ep_one_sided = false;
  bool cuda_graphs = false;  // the host launches no single kernels
  // CPU time per operation relative to Transformer Engine's modules (Calibration::host_launch_s).
  // 0.7 suits modules of plain PyTorch: Megatron-Core's own tests took 0.66 to 0.82 on three kinds
  // of nodes (docs/physics/cost.md).
  double host_share = 1;
  // CPU time of ZeRO-3 per gather or reduction of a layer, before and after its kernels: hooks,
  // views of flat buffers, streams.
  double host_shard_s = 0;
  // ZeRO-3 uses separate buffers for collectives, with copies outside the compute stream: each
  // rank's shard is cast into a buffer, the gathered weights are copied out of it, and gradients
  // are cast into another (PyTorch's FSDP2: _fsdp_collectives.py, all_gather_copy_in,
  // split_with_sizes_copy, chunk_cat).
  bool shard_copies = false;
  // Weight shards are the optimizer's fp32 ones and are cast when gathered (PyTorch's FSDP,
  // MaxText). Otherwise a 16-bit shard is kept in addition.
  bool fp32_shards = false;
  SnapshotWeights snapshot_weights = SnapshotWeights::all;
  double host_step_s = 0;  // GPU idle time between steps: logging, norms, the training loop
  Sends sends = Sends::asynchronous;
  // Without sequence parallelism the ranks of tp hold the same activations. At a pipeline cut each
  // sends its part of them, and the receivers gather them (scatter/gather of Megatron-LM: Narayanan
  // et al. 2021, arXiv 2104.04473, section 4.1). Otherwise each sends all, as in Megatron-Core.
  bool scatter_sends = false;
  // ZeRO-3 gathers each tensor of a layer, including biases and norms, by a separate collective, as
  // DeepSpeed did at first (0.6, partition_parameters.py). Otherwise a layer is gathered as a
  // whole.
  bool tensor_gathers = false;
  // Each rank's optimizer steps as soon as its own gradients are ready and is rolled back if their
  // global norm is too large (Zero Bubble, arXiv 2401.10241, section 4). Otherwise all ranks wait
  // for the norm first.
  bool post_validation = false;
  bool dense_graphs = false;  // the host launches only kernels whose size depends on the router
  // All experts run in one kernel per direction: one launch, including activation and quantisation
  // of its output. Otherwise the host launches a GEMM per local expert (Transformer Engine's
  // GroupedLinear).
  bool fused_experts = false;
  // Flash attention uses instructions of an earlier GPU: FlashAttention-2, written for A100.
  bool portable_attention = false;
  // Speed of the fused attention kernel, relative to the calibration's.
  double attention_speed = 1;
  // Number of parts of the sequence that the MLP of a dense layer processes one after the other.
  // Only its input is kept, and the backward pass recomputes each part (TiledMLP of Arctic Long
  // Sequence Training: Bekman et al. 2025, arXiv 2506.13996, section 3.1.1; DeepSpeed's
  // runtime/sequence_parallel/ulysses_sp.py).
  int mlp_tiles = 1;
  // Network threads take cores from the threads that launch kernels: see
  // Calibration::host_contention.
  bool shared_cores = false;
  // Kernels of all streams enter the GPU through one queue (CUDA_DEVICE_MAX_CONNECTIONS=1): what is
  // launched after a collective starts once that has started.
  bool one_queue = false;
  Optimizer optimizer = Optimizer::adam;
  // Gradients are copied into the reduced buckets and back: PyTorch's DDP unless
  // gradient_as_bucket_view is set.
  bool bucket_copies = false;
  // Memory of a second copy of gradients that the reduction keeps, in addition to gradient_bytes
  // (DDP's buckets: 2).
  double reduced_copy_bytes = 0;
  // Gradients are freed after the optimizer step and allocated again in the next backward pass
  // (PyTorch: zero_grad(set_to_none=True), the default since 2.0). Otherwise they stay allocated.
  // This saves memory if a step has one micro-batch.
  bool gradients_released = false;
  // The router's weights multiply the experts' outputs, which must be kept for the backward pass.
  // Otherwise they multiply the input of the second product, and the outputs need not be kept
  // (Megatron-Core since core_v0.12.1: experts.py; torchtitan's score_before_experts, to v0.2.2).
  bool kept_expert_outputs = false;
  // A gated activation keeps its input in fp8 for the backward pass, in any precision of the
  // products (Megatron-Core's activation_func_fp8_input_store; DeepSeek-V3 technical report, arXiv
  // 2412.19437, section 3.3.3).
  bool fp8_activation_inputs = false;
  double logit_bytes = 6;  // bytes per logit at the peak of an unfused loss, over all its copies
  // Bytes per parameter that are allocated only during the optimizer step, sharded like its state:
  // flat fp32 gradients, too large for free blocks that activations left in the allocator
  // (DeepSpeed: 8, including the flattening copy).
  double update_bytes = 0;
  bool expandable_segments = false;  // PyTorch's allocator with this option hardly fragments
  // Full recomputation stops once backward has all its inputs: without the last product of a dense
  // layer (PyTorch's non-reentrant checkpoints since 2.1; compilers remove it as dead code).
  bool early_stop = false;
  bool held_outputs = false;  // a stage keeps its sent outputs until the backward pass
  bool flat_copies = false;   // ZeRO-1 gathers weights through flat copies of all of them
  bool held_tensors = false;  // asynchronous tp: gathered tensors stay until the host frees them
  // Eager PyTorch keeps a copy of a norm's input (norm_copy_bytes per element; fp32: 4), and
  // queries, keys and values as projected, in addition to the rotated ones (whole_qkv).
  double norm_copy_bytes = 0;
  bool whole_qkv = false;
  // Products with 4-bit weights keep their inputs although nothing uses them (bitsandbytes'
  // MatMul4Bit before 0.44).
  bool quantised_inputs = false;
  // Adapters: matrices computed by one product share one pair (NeMo and Megatron-Bridge, whose LoRA
  // is on linear_qkv and linear_fc1).
  bool adapter_per_product = true;
  // An adapter's last product accumulates into the base's output in one kernel (Transformer
  // Engine's fused operations, Unsloth). Otherwise a separate kernel adds the two.
  bool fused_adapters = false;
  bool pure_16_bit = false;  // no fp32 copy of the weights, moments in 16 bit
  // ZeRO-3 shards weights that every GPU loaded whole; shards and whole weights stay allocated
  bool whole_start = false;
  bool scaled_copies = true;  // fp8, nvfp4: weights and GEMM inputs are also kept in that precision
  // Weights are kept only in the scaled precision, without a 16-bit copy (Megatron-LM's
  // --fp8-param-gather).
  bool scaled_weights = false;
  // A transposed copy of fp8 weights is kept for the backward product that needs it. Otherwise each
  // backward pass transposes them again (ROCm's Transformer Engine:
  // keep_fp8_weight_transpose_cache; Megatron-Core: disable_parameter_transpose_cache).
  bool weight_transposes = true;
  double moment_bytes = 4;  // per moment of the optimizer, in mixed precision
  // Number of parts of a micro-batch under TensorOverlap::domino.
  int domino_rows = 2;
  int domino_columns = 1;
  double dispatch_latency_s = 0;  // per program; 0: every host starts its own programs
  DispatchMode dispatch_mode = DispatchMode::asynchronous;
  DispatchProgram dispatch_program = DispatchProgram::step;
  DispatchGang dispatch_gang = DispatchGang::none;
};

}  // namespace windtunnel
