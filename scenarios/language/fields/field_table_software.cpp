// Rows of the field table below "software": kernels, and the host that launches them.
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/library/facts/training_software.hpp"

namespace windtunnel {
namespace {

// Types that a gradient is always in.
std::vector<std::string_view> float_types() {
  std::vector<std::string_view> names = names_of<double>();
  std::erase(names, "none");
  return names;
}

std::vector<std::string> framework_names() {
  return names_in(frameworks());
}

Rows kernel_rows() {
  return {
      map_row("software", {.shorthand = "base",
                           .example = "{fused_loss: true, reductions: bf16}",
                           .help = "what the training software makes of the same mathematics; the "
                                   "defaults are Megatron-Core with Transformer Engine; a name: "
                                   "as that software does it"}),
      name_row("software.base",
               {.library = framework_names,
                .example = "megatron",
                .help = "the training software, and its release, that the job runs on: it states "
                        "the keys that it sets (scenarios/library/software.yaml) where the "
                        "scenario does not; a note says what it would refuse, and optimise offers "
                        "nothing of the kind",
                .scope = Scope::label}),
      name_row<&Software::fusion>(
          "software.fusion",
          {.example = "partial",
           .help = "between matrix multiplications: one kernel per PyTorch operation (none); "
                   "bias + activation, bias + dropout + residual, softmax and norms fused by hand "
                   "(partial); PyTorch joined by its compiler (compiled)"}),
      fact_row<&Software::rotary_bytes>(
          "software.rotary_traffic", Dimension::bytes,
          {.low = 0,
           .high = 1000,
           .example = "35 B",
           .help = "with fusion none, what turning queries and keys moves through memory for an "
                   "element, each way: 35 B as complex numbers, 75 B by halves; 0: one kernel in "
                   "place"}),
      flag_row<&Software::fused_norms>(
          "software.fused_norms",
          {.example = "false",
           .help = "with fusion none or compiled: norms whose backward pass is one kernel, as "
                   "FlashAttention's in Triton"}),
      flag_row<&Software::repeated_keys>(
          "software.repeated_keys",
          {.example = "false",
           .help = "keys and values are copied for each query head that reads them, in front of "
                   "attention"}),
      fact_row<&Software::attention_speed>(
          "software.attention_speed", Dimension::number,
          {.low = 0.01,
           .high = 10,
           .example = "0.75",
           .help = "of the fused attention kernel, of that of the calibration's; 0.75: "
                   "FlashAttention in Triton (2022) beside FlashAttention-2"}),
      flag_row<&Software::portable_attention>(
          "software.portable_attention",
          {.example = "true",
           .help = "attention: auto runs the fused kernel that was written for an earlier GPU "
                   "(FlashAttention-2 on Hopper, PyTorch's scaled_dot_product_attention)"}),
      whole_row<&Software::mlp_tiles>(
          "software.mlp_tiles",
          {.low = 1,
           .high = 1e5,
           .example = "8",
           .help = "parts into which a dense layer's MLP cuts the sequence: it runs them one after "
                   "the other and keeps only its input, so that the backward pass computes each "
                   "part again (TiledMLP of DeepSpeed's ALST, Unsloth)"}),
      name_row<&Software::optimizer>(
          "software.optimizer",
          {.example = "momentum",
           .help = "what it keeps of a parameter in fp32 and moves in a step: two moments, "
                   "one (SGD with momentum), none"}),
      flag_row<&Software::fused_loss>(
          "software.fused_loss",
          {.example = "true",
           .help = "cross entropy in one kernel, without fp32 copies of the logits"}),
      name_row<&Software::gradient_bytes>(
          "software.gradients",
          {.names = names_of<double>(),
           .example = "fp32",
           .help = "type in which gradients are kept between micro-batches, in a precision "
                   "of 16 bits or less; none: each is applied and freed within the backward pass, "
                   "with one micro-batch a step (torchtune's optimizer_in_bwd)"}),
      name_row<&Software::reduce_bytes>("software.reductions",
                                        {.names = float_types(),
                                         .example = "bf16",
                                         .help = "type of the gradients on the network"}),
      name_row<&Software::reduced_copy_bytes>(
          "software.reduced_copies",
          {.names = {"none", "fp32", "bf16"},
           .example = "bf16",
           .help = "type of a second copy of the gradients that the reduction keeps (DDP's "
                   "buckets)"}),
      flag_row<&Software::gradients_released>(
          "software.gradients_released",
          {.example = "true",
           .help = "gradients are freed after each step and come anew as activations go (PyTorch's "
                   "zero_grad with set_to_none); counts where a step is one micro-batch"}),
      flag_row<&Software::pure_16_bit>(
          "software.pure_16_bit",
          {.example = "false",
           .help = "weights are updated in 16 bit, without a copy of them in fp32, and so are the "
                   "optimizer's moments (torchtune's default)"}),
      flag_row<&Software::early_stop>(
          "software.early_stop",
          {.example = "false",
           .help = "recompute: full ends where the backward pass has all that it reads, without a "
                   "dense layer's last product (PyTorch's non-reentrant checkpoints)"}),
      choice_row<&Software::logit_bytes>(
          "software.logit_memory", Dimension::bytes,
          {.low = 0,
           .high = 100,
           .example = "6 B",
           .help = "of one logit at the peak of an unfused loss, all its copies"}),
      choice_row<&Software::update_bytes>(
          "software.update_memory", Dimension::bytes,
          {.low = 0,
           .high = 100,
           .example = "8 B",
           .help = "of a parameter while the optimizer steps, sharded as its state is: flat copies "
                   "of gradients in fp32 (DeepSpeed: 8 B)"}),
      flag_row<&Software::expandable_segments>(
          "software.expandable_segments",
          {.example = "true",
           .help = "PyTorch's allocator hardly fragments (PYTORCH_CUDA_ALLOC_CONF: "
                   "expandable_segments)"}),
      flag_row<&Software::held_outputs>(
          "software.held_outputs",
          {.example = "true",
           .help = "a pipeline stage keeps what it sent until the backward pass (DeepSpeed)"}),
      name_row<&Software::norm_copy_bytes>(
          "software.norm_copies",
          {.names = {"none", "fp32", "bf16"},
           .example = "fp32",
           .help = "type of the copy that a norm keeps of its input for the backward pass (eager "
                   "PyTorch: fp32)"}),
      flag_row<&Software::whole_qkv>(
          "software.whole_qkv",
          {.example = "true",
           .help = "queries, keys and values are kept as they were projected, beside rotated "
                   "queries and keys (eager PyTorch)"}),
      flag_row<&Software::quantised_inputs>(
          "software.quantised_inputs",
          {.example = "true",
           .help = "train.adapter.kind: qlora: products with weights in 4 bits keep their inputs, "
                   "though nothing reads them (bitsandbytes before 0.44)"}),
      flag_row<&Software::whole_start>(
          "software.whole_start",
          {.example = "true",
           .help = "layout.sharding: zero3: every GPU loads the whole model before it is sharded, "
                   "so that memory holds both at the start"}),
      flag_row<&Software::flat_copies>(
          "software.flat_copies",
          {.example = "false",
           .help = "ZeRO-1 gathers weights through flat copies of all of them"}),
      flag_row<&Software::held_tensors>(
          "software.held_tensors",
          {.example = "false",
           .help = "asynchronous tensor parallelism: gathered tensors wait for the host to "
                   "free them"}),
      flag_row<&Software::scaled_copies>(
          "software.scaled_copies",
          {.example = "true",
           .help = "with fp8 and nvfp4, weights and inputs of matrix multiplications are "
                   "kept in that precision"}),
      flag_row<&Software::scaled_weights>(
          "software.scaled_weights",
          {.example = "false",
           .help = "with fp8 and nvfp4, layers' weights are kept in that precision alone, without "
                   "a copy in 16 bit (Megatron-LM's --fp8-param-gather)"}),
      flag_row<&Software::weight_transposes>(
          "software.weight_transposes",
          {.example = "false",
           .help = "with fp8, layers' weights are kept transposed besides; otherwise each backward "
                   "pass transposes them anew (Megatron-Core's disable_parameter_transpose_cache, "
                   "ROCm's keep_fp8_weight_transpose_cache)"}),
      name_row<&Software::moment_bytes>(
          "software.moments",
          {.names = float_types(),
           .example = "bf16",
           .help = "type in which the optimizer keeps its moments, in a precision of 16 bits or "
                   "less (Megatron-LM's --exp-avg-dtype)"}),
      flag_row<&Software::fp8_activation_inputs>(
          "software.fp8_activation_inputs",
          {.example = "false",
           .help = "a gated activation keeps its input in fp8 for the backward pass "
                   "(Megatron-Core's activation_func_fp8_input_store, DeepSeek-V3)"}),
      flag_row<&Software::kept_expert_outputs>(
          "software.kept_expert_outputs",
          {.example = "false",
           .help = "the router's weights are multiplied into what experts give out, which is kept "
                   "for the backward pass (Megatron-Core before 0.12)"}),
  };
}

Rows host_rows() {
  return {
      flag_row<&Software::ep_overlap>(
          "software.ep_overlap",
          {.example = "false",
           .help = "all-to-alls of a micro-batch run beside the compute of another"}),
      flag_row<&Software::ep_merged>(
          "software.ep_merged",
          {.example = "false",
           .help = "a token goes once to a node, not once to each of its experts there "
                   "(DeepEP)"}),
      flag_row<&Software::cuda_graphs>(
          "software.cuda_graphs",
          {.example = "false", .help = "the host launches no kernels one by one"}),
      flag_row<&Software::dense_graphs>(
          "software.dense_graphs",
          {.example = "true",
           .help = "the host launches one by one only kernels whose sizes the router decides"}),
      flag_row<&Software::fused_experts>(
          "software.fused_experts",
          {.example = "true",
           .help = "a GPU's experts run in one kernel each way, activation and quantising of its "
                   "output inside; otherwise in a product for each"}),
      flag_row<&Software::tensor_gathers>(
          "software.tensor_gathers",
          {.example = "true",
           .help = "layout.sharding: zero3: each tensor of a layer is gathered and reduced by "
                   "itself, through a list with a slice for each rank that the host copies, as in "
                   "DeepSpeed before 0.6; it did so without overlap"}),
      fact_row<&Software::host_share>(
          "software.host_share", Dimension::number,
          {.low = 0,
           .high = 100,
           .example = "0.7",
           .help = "CPU time of an operation, of that of Transformer Engine's modules; 0.7: "
                   "Megatron-Core's own modules, 0.2: Hugging Face's transformers"}),
      fact_row<&Software::host_shard_s>(
          "software.host_shard", Dimension::seconds,
          {.low = 0,
           .high = 1,
           .example = "1.1 ms",
           .help = "layout.sharding: zero3: CPU time to gather or reduce one layer; FSDP2 in "
                   "PyTorch 2.11: 1.1 ms"}),
      flag_row<&Software::shard_copies>(
          "software.shard_copies",
          {.example = "true",
           .help = "layout.sharding: zero3: weights and gradients are copied out of and into the "
                   "buffers of collectives (PyTorch's FSDP2)"}),
      flag_row<&Software::fp32_shards>(
          "software.fp32_shards",
          {.example = "true",
           .help = "sharded weights are kept in fp32 alone and cast when they are gathered "
                   "(PyTorch's FSDP, MaxText); otherwise a copy in 16 bit is kept besides "
                   "(DeepSpeed, Megatron-LM)"}),
      name_row<&Software::snapshot_weights>(
          "software.snapshot_weights",
          {.example = "fp32-shards",
           .help = "what a snapshot holds of the weights: every copy that is kept (all), under "
                   "layout.sharding: zero3 the one in fp32 alone (fp32-shards: DeepSpeed), or the "
                   "one in 16 bit alone (16-bit: NeuronX Distributed)"}),
      fact_row<&Software::host_step_s>(
          "software.host_step", Dimension::seconds,
          {.low = 0,
           .high = 3600,
           .example = "20 ms",
           .help = "what the GPUs wait for between steps: logging, norms, the training loop"}),
      name_row<&Software::sends>(
          "software.sends",
          {.example = "asynchronous",
           .help = "what a pipeline rank that sends waits for: nothing, the end of the "
                   "message, or the receiver as well"}),
      flag_row<&Software::scatter_sends>(
          "software.scatter_sends",
          {.example = "true",
           .help = "without sequence parallelism each rank of tp sends its part of what crosses a "
                   "pipeline cut, and the receivers gather them over NVLink (Megatron-LM's "
                   "scatter/gather); otherwise each sends all of it"}),
      flag_row<&Software::post_validation>(
          "software.post_validation",
          {.example = "false",
           .help = "the optimizer does not wait for the gradients' norm (Zero Bubble)"}),
      flag_row<&Software::shared_cores>(
          "software.shared_cores",
          {.example = "false",
           .help = "the network's threads take cores from those that launch kernels"}),
      flag_row<&Software::bucket_copies>(
          "software.bucket_copies",
          {.example = "true",
           .help = "communication.overlap: bucketed: gradients are copied into their buckets "
                   "and back (PyTorch DDP without gradient_as_bucket_view)"}),
  };
}

}  // namespace

Rows software_rows() {
  return joined({kernel_rows(), tensor_overlap_rows(), host_rows(), dispatch_rows()});
}

}  // namespace windtunnel
