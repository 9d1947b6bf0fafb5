// What the training software makes of the same mathematics: which operations share a kernel, what
// is kept in which type. The defaults are Megatron-Core with Transformer Engine.
#pragma once

namespace windtunnel {

// How far the operations between matrix multiplications are fused.
enum class Fusion {
  none,      // one kernel per PyTorch operation
  partial,   // bias + activation, bias + dropout + residual, softmax and norms fused by hand
  compiled,  // plain PyTorch whose compiler joins what lies between two products of a layer
};

// What a pipeline rank waits for when it has a result for another one.
enum class Sends {
  asynchronous,  // nothing
  blocking,      // the rank goes on computing once its message has passed
  synchronous,   // a message passes when the receiver, too, is done with what it computes before it
                 // uses it; both wait (batched send and receive)
};

// What runs beside the collectives of tensor parallelism: models/cost/parallel/tensor_parallel.hpp.
enum class TensorOverlap { none, pipelined, domino, sub_pipelined, fused, ladder, kraken };

// One controller has all hosts start each program (Pathways: Barham et al. 2022, arXiv 2203.12533,
// sections 4.3 to 4.5): policies/evaluation/dispatch.hpp.
enum class DispatchMode {
  asynchronous,  // while the previous program runs, as early as necessary
  synchronous,   // when the inputs of the program are ready
};
enum class DispatchProgram {
  step,  // an iteration, of all ranks
  pass,  // an action of the schedule, of the ranks of its pipeline stage
};
// Ranks that begin a program together, so that the last of them to be ready counts.
enum class DispatchGang {
  none,    // each begins when it is ready
  island,  // those of the program in one site
  all,     // all of the program
};

// What the optimizer keeps of a parameter besides gradient and fp32 copy: two moments, one, or
// nothing. `muon`: one momentum, whose update of a matrix is made orthogonal (Jordan et al. 2024,
// github.com/KellerJordan/Muon); embedding, head and vectors use Adam (Liu et al. 2025, arXiv
// 2502.16982, section 2.2).
enum class Optimizer { adam, momentum, sgd, muon };
constexpr int moments(Optimizer optimizer) {
  if (optimizer == Optimizer::adam) return 2;
  return optimizer == Optimizer::sgd ? 0 : 1;
}

// What a snapshot holds of the weights, beside the optimizer's moments.
enum class SnapshotWeights {
  all,          // every copy that is kept
  fp32_shards,  // where weights are sharded (zero3), their copy in fp32 alone; elsewhere all
  compute,      // the copy in 16 bit alone
};

struct Software {
  Fusion fusion = Fusion::partial;
  // Rotary positions with one kernel per operation: HBM bytes for an element of queries and keys,
  // each way, and half as many again, because strided kernels reach a third to a half of the
  // bandwidth. Halves in fp32 (two casts, four products, two sums) move 48 B and count for 75
  // (measured on an H200); complex numbers in fp32 (casts and a product: Llama's reference code,
  // torchtitan) move 20 B: 35, assumed, as halves in 16 bit (Megatron-Core's rope_utils.py, whose
  // sum is copied once more) move 24 B. 0: one kernel in place.
  double rotary_bytes = 35;
  // Norms of plain PyTorch by one kernel each way, their scale's gradient inside (Triton's of
  // FlashAttention).
  bool fused_norms = false;
  // Keys and values are copied for each query head that reads them, in front of an attention kernel
  // that takes heads one to one.
  bool repeated_keys = false;
  bool fused_loss = false;  // cross entropy in one kernel, without fp32 copies of the logits
  // bytes of a parameter's gradient between micro-batches (mixed precision)
  double gradient_bytes = 4;
  double reduce_bytes = 4;  // bytes of a gradient on the network
  TensorOverlap tp_overlap = TensorOverlap::none;
  bool ep_overlap = false;  // all-to-alls of a micro-batch run beside the compute of another
  bool ep_merged = false;   // a token goes once to a node (or, in one node, to a rank): DeepEP
  // All-to-alls are written by the GPUs themselves, as they are where ep_merged holds (pplx-garden,
  // DeepEP's low-latency kernels).
  bool ep_one_sided = false;
  bool cuda_graphs = false;  // the host launches nothing
  // CPU time per operation, relative to Transformer Engine's modules (Calibration::host_launch_s).
  // 0.7 suits modules of plain PyTorch: Megatron-Core's own tests took 0.66 to 0.82 on three kinds
  // of nodes (docs/physics/cost.md).
  double host_share = 1;
  // CPU time of ZeRO-3 for one layer's gather, or reduction, before and behind its kernels: hooks,
  // views of flat buffers, streams.
  double host_shard_s = 0;
  // ZeRO-3 gathers into, and reduces from, buffers of its own, beside the stream that computes:
  // each rank's shard is cast into one, the gathered weights are copied out of it, gradients are
  // cast into another (PyTorch's FSDP2: _fsdp_collectives.py, all_gather_copy_in,
  // split_with_sizes_copy, chunk_cat).
  bool shard_copies = false;
  // Shards of the weights are in fp32, the ones that the optimizer updates, and are cast when they
  // are gathered (PyTorch's FSDP, MaxText). Otherwise a shard in 16 bit is kept beside them.
  bool fp32_shards = false;
  SnapshotWeights snapshot_weights = SnapshotWeights::all;
  double host_step_s = 0;  // what GPUs wait for between steps: logging, norms, the training loop
  Sends sends = Sends::asynchronous;
  // Without sequence parallelism the ranks of tp hold equal activations. Of those at a pipeline cut
  // each sends its part, and the receivers gather them (scatter/gather of Megatron-LM: Narayanan et
  // al. 2021, arXiv 2104.04473, section 4.1); otherwise each sends all, as Megatron-Core does.
  bool scatter_sends = false;
  // ZeRO-3 gathers each tensor of a layer, biases and norms too, by a collective of its own, as
  // DeepSpeed did before it gathered a module's at once (0.6, partition_parameters.py); otherwise
  // a layer is gathered as one.
  bool tensor_gathers = false;
  // The optimizer steps on each rank when its own gradients are there and is rolled back if their
  // norm turns out too large (Zero Bubble, arXiv 2401.10241, section 4); otherwise all ranks wait
  // for the norm first.
  bool post_validation = false;
  bool dense_graphs = false;  // it launches only the kernels whose sizes the router decides
  // Experts in one kernel each way: one launch, activation and quantising of its output inside.
  // Otherwise the host launches a GEMM for each local expert (Transformer Engine's GroupedLinear).
  bool fused_experts = false;
  // Flash attention whose instructions are an earlier GPU's: FlashAttention-2, written for A100.
  bool portable_attention = false;
  // Speed of the fused attention kernel, relative to the calibration's.
  double attention_speed = 1;
  // The parts of the sequence that a dense layer's MLP runs one after the other. Only its input is
  // kept, and the backward pass computes each part again (TiledMLP of Arctic Long Sequence
  // Training: Bekman et al. 2025, arXiv 2506.13996, section 3.1.1; DeepSpeed's
  // runtime/sequence_parallel/ulysses_sp.py). 1: all at once.
  int mlp_tiles = 1;
  // The threads that drive the network take cores from those that launch kernels: see
  // Calibration::host_contention.
  bool shared_cores = false;
  Optimizer optimizer = Optimizer::adam;
  // Gradients are copied into the buckets that are reduced, and back: PyTorch's DDP unless
  // gradient_as_bucket_view is set.
  bool bucket_copies = false;
  // Memory. Beside gradient_bytes, of a second copy that the reduction keeps (DDP's buckets: 2).
  double reduced_copy_bytes = 0;
  // Gradients are freed after the optimizer's step and come anew in the next backward pass, as
  // activations go (PyTorch: zero_grad(set_to_none=True), the default since 2.0); otherwise they
  // stay. Of use where a step is one micro-batch.
  bool gradients_released = false;
  // The router's weights are multiplied into the experts' outputs, which are kept for it;
  // otherwise into what their second products read, and nothing reads the outputs again
  // (Megatron-Core since core_v0.12.1: experts.py; torchtitan's score_before_experts, to v0.2.2).
  bool kept_expert_outputs = false;
  // A gated activation keeps its input in fp8 for the backward pass, whatever the precision of the
  // products around it (Megatron-Core's activation_func_fp8_input_store; DeepSeek-V3 technical
  // report, arXiv 2412.19437, section 3.3.3).
  bool fp8_activation_inputs = false;
  double logit_bytes = 6;  // bytes of one logit at the peak of an unfused loss, all its copies
  // Bytes of a parameter that exist only while the optimizer steps, sharded like its state: flat
  // fp32 gradients, which do not fit into the pieces that the allocator keeps of activations
  // (DeepSpeed: 8, with the copy that flattens them).
  double update_bytes = 0;
  bool expandable_segments = false;  // PyTorch's allocator so configured hardly fragments
  // Full recomputation ends where backward has all that it reads: without a dense layer's last
  // product (PyTorch's non-reentrant checkpoints since 2.1; compilers drop it as dead code).
  bool early_stop = false;
  bool held_outputs = false;  // a stage keeps what it sent until the backward pass
  bool flat_copies = false;   // ZeRO-1 gathers weights through flat copies of all of them
  bool held_tensors = false;  // asynchronous tp: gathered tensors wait for the host to free them
  // Eager PyTorch: of an element of a norm's input, a copy that it keeps (fp32: 4); queries, keys
  // and values as they were projected, beside rotated queries and keys.
  double norm_copy_bytes = 0;
  bool whole_qkv = false;
  // Products with weights in 4 bits keep their inputs, though nothing reads them (bitsandbytes'
  // MatMul4Bit before 0.44).
  bool quantised_inputs = false;
  // Adapters: matrices that one product multiplies have one pair together (NeMo and
  // Megatron-Bridge, whose LoRA is on linear_qkv and linear_fc1).
  bool adapter_per_product = true;
  // An adapter's last product adds onto what the base's has written, in one kernel (Transformer
  // Engine's fused operations, Unsloth); otherwise a kernel of its own adds the two.
  bool fused_adapters = false;
  bool pure_16_bit = false;   // no fp32 copy of the weights, moments in 16 bit
  bool whole_start = false;   // ZeRO-3 shards what every GPU has loaded whole: both are there then
  bool scaled_copies = true;  // fp8, nvfp4: weights and GEMM inputs are kept in that precision
  // The weights are kept in that precision alone, without a copy in 16 bit (Megatron-LM's
  // --fp8-param-gather).
  bool scaled_weights = false;
  // Weights in fp8 are kept transposed besides, for the product of the backward pass that reads
  // them so; otherwise each backward pass transposes them anew (ROCm's Transformer Engine:
  // keep_fp8_weight_transpose_cache; Megatron-Core: disable_parameter_transpose_cache).
  bool weight_transposes = true;
  double moment_bytes = 4;  // of a moment of the optimizer, in mixed precision
  // Parts of a micro-batch under TensorOverlap::domino.
  int domino_rows = 2;
  int domino_columns = 1;
  double dispatch_latency_s = 0;  // of one program; 0: every host starts its own
  DispatchMode dispatch_mode = DispatchMode::asynchronous;
  DispatchProgram dispatch_program = DispatchProgram::step;
  DispatchGang dispatch_gang = DispatchGang::none;
};

}  // namespace windtunnel
