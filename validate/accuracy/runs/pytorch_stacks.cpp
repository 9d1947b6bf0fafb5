#include "validate/accuracy/runs/pytorch_stacks.hpp"

#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

// CPU time of FSDP2 for a layer's gather or reduction: a third of what a step's CPU time grew by
// for each layer, 2.5 to 4.3 ms (median of two passes 3.3), of models too small for the GPU with
// FSDP2 and without (PyTorch 2.11.0, one H200, virtual machine of 16 cores at 2.1 GHz, 2026-11-27).
constexpr double kShardedHost_s = 1.1e-3;

// Rotary positions by halves in fp32, one kernel per operation: 48 B of an element, by kernels
// whose strided operands cost them (Software::rotary_bytes).
constexpr double kRotaryHalves = 75;

// Modules of plain PyTorch, which copy keys and values for queries in groups.
void pytorch_modules(Job& job, bool compiled) {
  job.software.fusion = compiled ? Fusion::compiled : Fusion::none;
  job.software.repeated_keys = true;
  job.model.separate_projections = true;
}

}  // namespace

// FSDP of PyTorch, no biases, ALiBi in the attention kernel, which is FlashAttention in Triton
// (scripts/train/benchmarking/submit_benchmarks.py, --attn_impl). Its speed beside FlashAttention-2
// is fitted, alone, on the five rows of 32,768 tokens on A100 of 40 GB.
constexpr double kTritonSpeed = 0.75;

void llm_foundry(const TrainingRun& run, Job& job) {
  const bool full = contains_text(run.schedule, "FULL_SHARD");
  job.layout.sharding = full ? Sharding::zero3 : Sharding::zero2;
  job.software.fp32_shards = true;  // as FSDP casts parameters of any precision
  job.model.biases = false;
  job.model.position = PositionEncoding::alibi;
  job.software.portable_attention = true;
  job.software.attention_speed = kTritonSpeed;
  job.software.fusion = Fusion::none;
  job.software.fused_loss = true;  // FlashAttention's, its default
  job.software.early_stop = true;
  job.software.gradient_bytes = 4;
  job.software.reduce_bytes = 2;
  job.communication.overlap = GradientOverlap::bucketed;
}

void torchtitan(const TrainingRun& run, Job& job) {
  job.layout.sharding = Sharding::zero3;
  // FSDP2's own way: its trainer called set_requires_all_reduce only from pull request 4505 on.
  job.layout.copies_summed = CopiesSummed::micro_batch;
  const bool compiled = contains_text(run.note, "compile") || run.precision == "fp8";
  pytorch_modules(job, compiled);
  job.software.portable_attention = true;  // of PyTorch's scaled_dot_product_attention
  job.software.reduce_bytes = 4;
  const bool async = contains_text(run.note, "AsyncTP") || contains_text(run.note, "async TP");
  if (async) job.software.tp_overlap = TensorOverlap::pipelined;
  // Scales by rows are of fp8 what those of blocks are of mxfp8: quantising is a kernel of its own.
  if (contains_text(run.precision, "rowwise")) job.precision = Precision::mxfp8;
  job.communication.overlap = GradientOverlap::bucketed;
  // Logits in 16 bit, in fp32, their log-softmax and its gradient; fp8 casts are not kept.
  job.software.logit_bytes = 14;
  job.software.scaled_copies = false;
  if (job.recompute == Recompute::selective) {
    job.recompute = Recompute::of(RecomputeModule::matmuls);
  }
  job.software.early_stop = true;
  job.software.expandable_segments = true;           // run_train.sh
  job.layout.sequence_parallel = job.layout.tp > 1;  // its only form of tensor parallelism
  job.software.shard_copies = true;
  job.software.fp32_shards = true;
  job.software.host_shard_s = kShardedHost_s;
  job.software.gradients_released = true;
}

// FSDP of PyTorch at IBM: github.com/foundation-model-stack/fms-fsdp, bfSixteen policy; whole
// blocks are checkpointed.
void fms_fsdp(const TrainingRun& run, Job& job) {
  Layout& layout = job.layout;
  layout.sharding = Sharding::zero3;
  if (contains_text(run.schedule, "HSDP")) layout.shard_ranks = job.cluster.node.gpus;
  layout.copies_summed = CopiesSummed::micro_batch;  // FSDP1, without no_sync
  job.software.fp32_shards = true;
  pytorch_modules(job, contains_text(run.source, "torch.compile"));
  job.model.separate_projections = false;  // its weights are fused
  job.software.portable_attention = true;
  job.software.early_stop = true;
  job.software.reduce_bytes = 2;
  job.software.logit_bytes = 12;
  job.communication.overlap = GradientOverlap::bucketed;
}

// github.com/Lightning-AI/litgpt, finetune/lora.py: weights and their gradients in bf16, PyTorch's
// attention, no checkpointing, embedding and head apart.
void litgpt(const TrainingRun& run, Job& job) {
  // Several GPUs: FSDPStrategy with activation_checkpointing_policy.
  if (contains_text(run.schedule, "FSDP")) {
    job.layout.sharding = Sharding::zero3;
    job.recompute = Recompute::full;
    job.software.whole_start = true;
  }
  job.model.tied_embeddings = false;
  job.software.pure_16_bit = true;
  job.software.norm_copy_bytes = 4;
  job.software.whole_qkv = true;
  job.software.quantised_inputs = true;
  job.software.fusion = Fusion::none;
  job.software.rotary_bytes = kRotaryHalves;
  job.software.portable_attention = true;
  job.software.gradient_bytes = 2;
  job.software.reduce_bytes = 2;
}

// github.com/pytorch/torchtune: weights in bf16, recomputation unless a row says otherwise, loss in
// eight chunks, compiled but for the first steps of its ladder of optimisations. Steps of the
// ladder add up: from "optimizer in backward" on no gradient outlives its tensor's backward pass;
// 8-bit AdamW ends it. recipes/configs/llama3_1/8B_full_single_device.yaml has both, its states
// paged.
void torchtune(const TrainingRun& run, Job& job) {
  const auto says = [&](const char* words) { return contains_text(run.note, words); };
  Software& software = job.software;
  if (contains_text(run.schedule, "FSDP")) job.layout.sharding = Sharding::zero3;
  if (run.recompute.empty()) job.recompute = Recompute::full;
  const bool eager = says("step: baseline") || says("step: + packed");
  software.early_stop = true;
  software.pure_16_bit = true;
  software.gradients_released = true;
  pytorch_modules(job, !eager);
  software.rotary_bytes = kRotaryHalves;
  software.portable_attention = true;
  software.gradient_bytes = 2;
  software.reduce_bytes = 2;
  // Logits and their gradient in 16 bit around an fp32 copy; eager, log-softmax and gradient in
  // fp32 and one of 16 bit, or on the way there logits in both and log-softmax.
  software.logit_bytes = eager ? 10 : 8;
  if (eager) {
    software.norm_copy_bytes = 4;
    software.whole_qkv = true;
  }
  const bool paged = run.note.starts_with("Full finetune;") && job.layout.ranks() == 1;
  const bool small_states = says("step: + 8-bit");
  if (paged || small_states || says("step: + optimizer in") || says("step: + activation off")) {
    software.gradient_bytes = 0;
  }
  if (small_states) software.optimizer = Optimizer::momentum;  // two of 8 bit, as one of 16
  if (paged) software.optimizer = Optimizer::sgd;              // they lie on the host
}

// validate/harness/pytorch/measure_steps.py: modules of plain PyTorch, compiled block by block or
// not. Where they are captured in a graph the host launches nothing.
void plain_pytorch(const TrainingRun& run, Job& job) {
  pytorch_modules(job, contains_text(run.note, "compile"));
  job.software.rotary_bytes = kRotaryHalves;
  job.software.cuda_graphs = contains_text(run.note, "CUDA graph");
  job.software.host_share = 0.7;
  job.software.early_stop = true;
  job.software.gradients_released = true;
  // Logits in 16 bit, their log-softmax in fp32, and its gradient.
  job.software.logit_bytes = 14;
  if (contains_text(run.schedule, "FSDP")) {
    job.layout.sharding = Sharding::zero3;
    job.software.reduce_bytes = 4;
    job.software.shard_copies = true;
    job.software.fp32_shards = true;
    job.software.host_shard_s = kShardedHost_s;
    job.communication.overlap = GradientOverlap::bucketed;
  } else {
    job.software.pure_16_bit = true;
    job.software.gradient_bytes = 2;
    job.software.reduce_bytes = 2;
  }
}

}  // namespace windtunnel
