// These are rows of the field table below "software": kernels, and the host that launches them.
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/library/facts/training_software.hpp"

namespace windtunnel {
namespace {

// The types that a gradient can have; "none" is not one.
std::vector<std::string_view> float_types() {
  std::vector<std::string_view> names = names_of<double>();
  std::erase(names, "none");
  return names;
}

Rows kernel_rows() {
  return {
      map_row("software", shorthand("base"), example("{fused_loss: true, reductions: bf16}"),
              "what the training software makes of the same mathematics; the defaults are "
              "Megatron-Core with Transformer Engine; a name: as that software does it"),
      name_row("software.base", names(names_listed<frameworks>), Scope::label, example("megatron"),
               "the training software, and its release, that the job runs on: it states the keys "
               "that it sets (scenarios/library/software.yaml) where the scenario does not; a note "
               "says what it would refuse, and optimise offers nothing of the kind"),
      name_row("software.fusion", sets<&Software::fusion>,
               "between matrix multiplications: one kernel per PyTorch operation (none); bias + "
               "activation, bias + dropout + residual, softmax and norms fused by hand (partial); "
               "PyTorch joined by its compiler (compiled)"),
      fact_row(
          "software.rotary_traffic", sets<&Software::rotary_bytes>, Dimension::bytes,
          range(0, 1000),
          "with fusion none, or scaled rotary positions and fusion partial, what turning queries "
          "and keys moves through memory for an element, each way: 35 B as complex numbers or by "
          "halves in 16 bit, 75 B by halves in fp32; 0: one kernel in place"),
      flag_row("software.fused_norms", sets<&Software::fused_norms>,
               "with fusion none or compiled: norms whose backward pass is one kernel, as "
               "FlashAttention's in Triton"),
      flag_row(
          "software.repeated_keys", sets<&Software::repeated_keys>,
          "keys and values are copied for each query head that reads them, in front of attention"),
      fact_row("software.attention_speed", sets<&Software::attention_speed>, range(0.01, 10),
               example("0.75"),
               "speed of the fused attention kernel relative to the calibration's; 0.75: "
               "FlashAttention in Triton (2022) relative to FlashAttention-2"),
      flag_row("software.portable_attention", sets<&Software::portable_attention>, example("true"),
               "attention: auto runs the fused kernel that was written for an earlier GPU "
               "(FlashAttention-2 on Hopper, PyTorch's scaled_dot_product_attention)"),
      whole_row("software.mlp_tiles", sets<&Software::mlp_tiles>, range(1, 1e5), example("8"),
                "parts into which a dense layer's MLP cuts the sequence: it runs them one after "
                "the other and keeps only its input, so that the backward pass computes each part "
                "again (TiledMLP of DeepSpeed's ALST, Unsloth)"),
      name_row("software.optimizer", sets<&Software::optimizer>, example("momentum"),
               "what it keeps of a parameter in fp32 and moves in a step: two moments, one (SGD "
               "with momentum), none"),
      flag_row("software.fused_loss", sets<&Software::fused_loss>, example("true"),
               "cross entropy in one kernel, without fp32 copies of the logits"),
      name_row("software.gradients", sets<&Software::gradient_bytes>, names(names_of<double>()),
               "type in which gradients are kept between micro-batches, in a precision of 16 bits "
               "or less; none: each is applied and freed within the backward pass, with one "
               "micro-batch a step (torchtune's optimizer_in_bwd)"),
      name_row("software.reductions", sets<&Software::reduce_bytes>, names(float_types()),
               example("bf16"), "type of the gradients on the network"),
      name_row("software.reduced_copies", sets<&Software::reduced_copy_bytes>,
               names({"none", "fp32", "bf16"}), example("bf16"),
               "type of a second copy of the gradients that the reduction keeps (DDP's buckets)"),
      flag_row("software.gradients_released", sets<&Software::gradients_released>, example("true"),
               "gradients are freed after each step and come anew as activations go (PyTorch's "
               "zero_grad with set_to_none); counts where a step is one micro-batch"),
      flag_row("software.pure_16_bit", sets<&Software::pure_16_bit>,
               "weights are updated in 16 bit, without a copy of them in fp32, and so are the "
               "optimizer's moments (torchtune's default)"),
      flag_row("software.early_stop", sets<&Software::early_stop>,
               "recompute: full stops once the backward pass has all that it reads, before a dense "
               "layer's last product (PyTorch's non-reentrant checkpoints)"),
      choice_row("software.logit_memory", sets<&Software::logit_bytes>, Dimension::bytes,
                 range(0, 100), "of one logit at the peak of an unfused loss, all its copies"),
      choice_row("software.update_memory", sets<&Software::update_bytes>, Dimension::bytes,
                 range(0, 100), example("8 B"),
                 "of a parameter while the optimizer steps, sharded as its state is: flat copies "
                 "of gradients in fp32 (DeepSpeed: 8 B)"),
      flag_row(
          "software.expandable_segments", sets<&Software::expandable_segments>, example("true"),
          "PyTorch's allocator hardly fragments (PYTORCH_CUDA_ALLOC_CONF: expandable_segments)"),
      flag_row("software.held_outputs", sets<&Software::held_outputs>, example("true"),
               "a pipeline stage keeps what it sent until the backward pass (DeepSpeed)"),
      name_row("software.norm_copies", sets<&Software::norm_copy_bytes>,
               names({"none", "fp32", "bf16"}), example("fp32"),
               "type of the copy that a norm keeps of its input for the backward pass (eager "
               "PyTorch: fp32)"),
      flag_row("software.whole_qkv", sets<&Software::whole_qkv>, example("true"),
               "queries, keys and values are kept as projected, in addition to rotated queries and "
               "keys (eager PyTorch)"),
      flag_row("software.quantised_inputs", sets<&Software::quantised_inputs>, example("true"),
               "train.adapter.kind: qlora: products with weights in 4 bits keep their inputs, "
               "though nothing reads them (bitsandbytes before 0.44)"),
      flag_row(
          "software.adapter_per_product", sets<&Software::adapter_per_product>,
          "train.adapter: matrices that one product multiplies (queries, keys and values; gate "
          "and up) have one pair together where all are adapted; default: true, as NeMo and "
          "Megatron-Bridge have it"),
      flag_row("software.fused_adapters", sets<&Software::fused_adapters>, example("true"),
               "train.adapter: a pair's last product adds onto what the base's has written, in one "
               "kernel (Transformer Engine's fused operations, Unsloth)"),
      flag_row("software.whole_start", sets<&Software::whole_start>, example("true"),
               "layout.sharding: zero3: every GPU loads the whole model before it is sharded, so "
               "that memory holds both at the start"),
      flag_row("software.flat_copies", sets<&Software::flat_copies>,
               "ZeRO-1 gathers weights through flat copies of all of them"),
      flag_row("software.held_tensors", sets<&Software::held_tensors>,
               "asynchronous tensor parallelism: gathered tensors wait for the host to free them"),
      flag_row("software.scaled_copies", sets<&Software::scaled_copies>,
               "with fp8 and nvfp4, weights and inputs of matrix multiplications are kept in that "
               "precision"),
      flag_row("software.scaled_weights", sets<&Software::scaled_weights>,
               "with fp8 and nvfp4, layers' weights are kept in that precision alone, without a "
               "copy in 16 bit (Megatron-LM's --fp8-param-gather)"),
      flag_row("software.weight_transposes", sets<&Software::weight_transposes>, example("false"),
               "with fp8, transposed copies of layers' weights are kept; otherwise each backward "
               "pass transposes them anew (Megatron-Core's disable_parameter_transpose_cache, "
               "ROCm's keep_fp8_weight_transpose_cache)"),
      name_row("software.moments", sets<&Software::moment_bytes>, names(float_types()),
               example("bf16"),
               "type in which the optimizer keeps its moments, in a precision of 16 bits or less "
               "(Megatron-LM's --exp-avg-dtype)"),
      flag_row("software.fp8_activation_inputs", sets<&Software::fp8_activation_inputs>,
               "a gated activation keeps its input in fp8 for the backward pass (Megatron-Core's "
               "activation_func_fp8_input_store, DeepSeek-V3)"),
      flag_row("software.kept_expert_outputs", sets<&Software::kept_expert_outputs>,
               "the router's weights are multiplied into what experts give out, which is kept for "
               "the backward pass (Megatron-Core before 0.12)"),
  };
}

Rows host_rows() {
  return {
      flag_row("software.ep_overlap", sets<&Software::ep_overlap>,
               "all-to-alls of a micro-batch overlap with the compute of another"),
      flag_row("software.ep_merged", sets<&Software::ep_merged>,
               "a token goes once to a node, not once to each of its experts there (DeepEP)"),
      flag_row("software.ep_one_sided", sets<&Software::ep_one_sided>, example("true"),
               "the GPUs write the experts' all-to-alls themselves, to all at once "
               "(pplx-garden, DeepEP's low-latency kernels), as they do under "
               "software.ep_merged; otherwise they are NCCL's"),
      flag_row("software.cuda_graphs", sets<&Software::cuda_graphs>,
               "the host launches no kernels one by one"),
      flag_row("software.dense_graphs", sets<&Software::dense_graphs>, example("true"),
               "the host launches one by one only kernels whose sizes the router decides"),
      flag_row("software.fused_experts", sets<&Software::fused_experts>, example("true"),
               "a GPU's experts run in one kernel each way, activation and quantising of its "
               "output inside; otherwise in a product for each"),
      flag_row("software.tensor_gathers", sets<&Software::tensor_gathers>, example("true"),
               "layout.sharding: zero3: each tensor of a layer is gathered and reduced by itself, "
               "through a list with a slice for each rank that the host copies, as in DeepSpeed "
               "before 0.6; it did so without overlap"),
      fact_row("software.host_share", sets<&Software::host_share>, range(0, 100), example("0.7"),
               "CPU time of an operation, of that of Transformer Engine's modules; 0.7: "
               "Megatron-Core's own modules, 0.2: Hugging Face's transformers"),
      fact_row("software.host_shard", sets<&Software::host_shard_s>, Dimension::seconds,
               range(0, 1), example("1.1 ms"),
               "layout.sharding: zero3: CPU time to gather or reduce one layer; FSDP2 in PyTorch "
               "2.11: 1.1 ms"),
      flag_row("software.shard_copies", sets<&Software::shard_copies>, example("true"),
               "layout.sharding: zero3: weights and gradients are copied out of and into the "
               "buffers of collectives (PyTorch's FSDP2)"),
      flag_row(
          "software.fp32_shards", sets<&Software::fp32_shards>, example("true"),
          "sharded weights are kept in fp32 alone and cast when they are gathered (PyTorch's FSDP, "
          "MaxText); otherwise a copy in 16 bit is kept as well (DeepSpeed, Megatron-LM)"),
      name_row("software.snapshot_weights", sets<&Software::snapshot_weights>,
               example("fp32-shards"),
               "what a snapshot holds of the weights: every copy that is kept (all), under "
               "layout.sharding: zero3 the one in fp32 alone (fp32-shards: DeepSpeed), or the one "
               "in 16 bit alone (16-bit: NeuronX Distributed)"),
      fact_row("software.host_step", sets<&Software::host_step_s>, Dimension::seconds,
               range(0, 3600), example("20 ms"),
               "what the GPUs wait for between steps: logging, norms, the training loop"),
      name_row("software.sends", sets<&Software::sends>,
               "what a pipeline rank that sends waits for: nothing, the end of the message, or the "
               "receiver as well"),
      flag_row("software.scatter_sends", sets<&Software::scatter_sends>, example("true"),
               "without sequence parallelism each rank of tp sends its part of what crosses a "
               "pipeline cut, and the receivers gather them over NVLink (Megatron-LM's "
               "scatter/gather); otherwise each sends all of it"),
      flag_row("software.post_validation", sets<&Software::post_validation>,
               "the optimizer does not wait for the gradients' norm (Zero Bubble)"),
      flag_row("software.shared_cores", sets<&Software::shared_cores>,
               "the network's threads take cores from those that launch kernels"),
      flag_row("software.bucket_copies", sets<&Software::bucket_copies>, example("true"),
               "communication.overlap: bucketed: gradients are copied into their buckets and back "
               "(PyTorch DDP without gradient_as_bucket_view)"),
  };
}

}  // namespace

Rows software_rows() {
  return joined({kernel_rows(), tensor_overlap_rows(), host_rows(), dispatch_rows()});
}

}  // namespace windtunnel
