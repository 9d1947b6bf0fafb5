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
              "how the training software implements the mathematics; the name of a software sets "
              "these keys; the defaults are those of Megatron-Core with Transformer Engine"),
      name_row("software.base", names(names_listed<frameworks>), Scope::label, example("megatron"),
               "the training software, and its release, that runs the job: it sets keys "
               "(scenarios/library/software.yaml) that the scenario does not set; a note says what "
               "the software would refuse, and optimise does not offer such settings"),
      name_row("software.fusion", sets<&Software::fusion>,
               "kernels between matrix multiplications: one per PyTorch operation (none); bias + "
               "activation, bias + dropout + residual, softmax and norms fused by hand (partial); "
               "fused by PyTorch's compiler (compiled)"),
      fact_row("software.rotary_traffic", sets<&Software::rotary_bytes>, Dimension::bytes,
               range(0, 1000),
               "bytes per element and direction that rotary embedding moves through memory, with "
               "fusion none, or with scaled rotary positions and fusion partial: 35 B as complex "
               "numbers or by halves in 16 bit, 75 B by halves in fp32; 0: one kernel in place"),
      flag_row("software.fused_norms", sets<&Software::fused_norms>,
               "with fusion none or compiled: the backward pass of a norm is one kernel, as in "
               "FlashAttention's Triton kernels"),
      flag_row("software.repeated_keys", sets<&Software::repeated_keys>,
               "keys and values are copied before attention for each query head that reads them"),
      fact_row("software.attention_speed", sets<&Software::attention_speed>, range(0.01, 10),
               example("0.75"),
               "speed of the fused attention kernel relative to the calibration's; 0.75: "
               "FlashAttention in Triton (2022) relative to FlashAttention-2"),
      flag_row("software.portable_attention", sets<&Software::portable_attention>, example("true"),
               "attention: auto runs a fused kernel written for an earlier GPU (FlashAttention-2 "
               "on Hopper, PyTorch's scaled_dot_product_attention)"),
      whole_row("software.mlp_tiles", sets<&Software::mlp_tiles>, range(1, 1e5), example("8"),
                "number of parts into which the MLP of a dense layer cuts the sequence: they run "
                "one after the other and only the input is kept, so that the backward pass "
                "recomputes each part (TiledMLP of DeepSpeed's ALST, Unsloth)"),
      name_row("software.optimizer", sets<&Software::optimizer>, example("momentum"),
               "the optimizer, which keeps two moments per parameter in fp32 (adam), one "
               "(momentum; muon, whose embedding, head and vectors use Adam) or none (sgd)"),
      flag_row("software.fused_loss", sets<&Software::fused_loss>, example("true"),
               "cross entropy in one kernel, without fp32 copies of the logits"),
      name_row("software.gradients", sets<&Software::gradient_bytes>, names(names_of<double>()),
               "type of the gradients between micro-batches, in a precision of 16 bits or less; "
               "none: each is applied and freed within the backward pass, with one micro-batch per "
               "step (torchtune's optimizer_in_bwd)"),
      name_row("software.reductions", sets<&Software::reduce_bytes>, names(float_types()),
               example("bf16"), "type of the gradients on the network"),
      name_row("software.reduced_copies", sets<&Software::reduced_copy_bytes>,
               names({"none", "fp32", "bf16"}), example("bf16"),
               "type of a second copy of the gradients that the reduction keeps (DDP's buckets)"),
      flag_row(
          "software.gradients_released", sets<&Software::gradients_released>, example("true"),
          "gradients are freed after each step and allocated again as activations are freed "
          "(PyTorch's zero_grad with set_to_none); matters only with one micro-batch per step"),
      flag_row("software.pure_16_bit", sets<&Software::pure_16_bit>,
               "weights and the optimizer's moments are kept and updated in 16 bit, without a copy "
               "in fp32 (torchtune's default)"),
      flag_row("software.early_stop", sets<&Software::early_stop>,
               "recompute: full stops as soon as the backward pass has all its inputs, before a "
               "dense layer's last product (PyTorch's non-reentrant checkpoints)"),
      choice_row("software.logit_memory", sets<&Software::logit_bytes>, Dimension::bytes,
                 range(0, 100), "bytes per logit at the peak of an unfused loss, with all copies"),
      choice_row("software.update_memory", sets<&Software::update_bytes>, Dimension::bytes,
                 range(0, 100), example("8 B"),
                 "additional bytes per parameter during the optimizer step, sharded as its state: "
                 "flat copies of gradients in fp32 (DeepSpeed: 8 B)"),
      flag_row("software.expandable_segments", sets<&Software::expandable_segments>,
               example("true"),
               "PyTorch's allocator avoids fragmentation (PYTORCH_CUDA_ALLOC_CONF: "
               "expandable_segments)"),
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
               "although nothing needs them (bitsandbytes before 0.44)"),
      flag_row("software.adapter_per_product", sets<&Software::adapter_per_product>,
               "train.adapter: matrices that are multiplied in one product (queries, keys and "
               "values; gate and up) share one pair of adapter matrices if all are adapted; "
               "default: true, as in NeMo and Megatron-Bridge"),
      flag_row("software.fused_adapters", sets<&Software::fused_adapters>, example("true"),
               "train.adapter: the last product of an adapter adds to the output of the base "
               "product in the same kernel (Transformer Engine's fused operations, Unsloth)"),
      flag_row("software.whole_start", sets<&Software::whole_start>, example("true"),
               "layout.sharding: zero3: every GPU loads the whole model before it is sharded, and "
               "memory holds both throughout"),
      flag_row("software.flat_copies", sets<&Software::flat_copies>,
               "ZeRO-1 gathers weights through flat copies of all weights"),
      flag_row("software.held_tensors", sets<&Software::held_tensors>,
               "asynchronous tensor parallelism: gathered tensors stay in memory until the host "
               "frees them"),
      flag_row("software.scaled_copies", sets<&Software::scaled_copies>,
               "with fp8 and nvfp4, weights and inputs of matrix multiplications are kept in that "
               "precision"),
      flag_row("software.scaled_weights", sets<&Software::scaled_weights>,
               "with fp8 and nvfp4, layers' weights are kept only in that precision, without a "
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
               "the outputs of experts are multiplied by the router's weights and kept for the "
               "backward pass (Megatron-Core before 0.12)"),
  };
}

Rows host_rows() {
  return {
      flag_row("software.ep_overlap", sets<&Software::ep_overlap>,
               "all-to-alls of a micro-batch overlap with the compute of another"),
      flag_row("software.ep_merged", sets<&Software::ep_merged>,
               "a token is sent once to a node, not once to each of its experts there (DeepEP)"),
      flag_row("software.ep_one_sided", sets<&Software::ep_one_sided>, example("true"),
               "GPUs write the experts' all-to-alls directly to all others (pplx-garden, DeepEP's "
               "low-latency kernels), as they do under software.ep_merged; otherwise NCCL is used"),
      flag_row("software.cuda_graphs", sets<&Software::cuda_graphs>,
               "the host launches the kernels of a step as graphs, not one by one (CUDA graphs)"),
      flag_row("software.dense_graphs", sets<&Software::dense_graphs>, example("true"),
               "the host launches kernels as graphs, except those whose sizes the router decides, "
               "which it launches one by one"),
      flag_row("software.fused_experts", sets<&Software::fused_experts>, example("true"),
               "a GPU's experts run in one kernel per direction, including the activation and the "
               "quantisation of its output; otherwise each expert has its own product"),
      flag_row("software.tensor_gathers", sets<&Software::tensor_gathers>, example("true"),
               "layout.sharding: zero3: each tensor of a layer is gathered and reduced separately, "
               "through a list with one slice per rank that the host copies, as in DeepSpeed "
               "before 0.6 (which also ran without overlap: communication.overlap: none)"),
      fact_row("software.host_share", sets<&Software::host_share>, range(0, 100), example("0.7"),
               "CPU time of an operation, relative to Transformer Engine's modules; 0.7: "
               "Megatron-Core's own modules, 0.2: Hugging Face's transformers"),
      fact_row("software.host_shard", sets<&Software::host_shard_s>, Dimension::seconds,
               range(0, 1), example("1.1 ms"),
               "layout.sharding: zero3: CPU time to gather or reduce one layer; FSDP2 in PyTorch "
               "2.11: 1.1 ms"),
      flag_row("software.shard_copies", sets<&Software::shard_copies>, example("true"),
               "layout.sharding: zero3: weights are copied out of, and gradients into, the buffers "
               "of collectives (PyTorch's FSDP2)"),
      flag_row("software.fp32_shards", sets<&Software::fp32_shards>, example("true"),
               "sharded weights are kept only in fp32 and cast when they are gathered (PyTorch's "
               "FSDP, MaxText); otherwise a copy in 16 bit is kept, too (DeepSpeed, Megatron-LM)"),
      name_row("software.snapshot_weights", sets<&Software::snapshot_weights>,
               example("fp32-shards"),
               "which copies of the weights a snapshot contains: every copy that is kept (all), "
               "under layout.sharding: zero3 only the fp32 copy (fp32-shards: DeepSpeed), or only "
               "the 16-bit copy (16-bit: NeuronX Distributed)"),
      fact_row("software.host_step", sets<&Software::host_step_s>, Dimension::seconds,
               range(0, 3600), example("20 ms"),
               "time that GPUs wait between steps: logging, norms, the training loop"),
      name_row("software.sends", sets<&Software::sends>,
               "what a sending pipeline rank waits for: nothing, the end of the message, or also "
               "the receiver"),
      flag_row("software.scatter_sends", sets<&Software::scatter_sends>, example("true"),
               "without sequence parallelism, each tp rank sends only its part of the message to "
               "the next stage, and the receivers gather the parts over NVLink (Megatron-LM's "
               "scatter/gather); otherwise each sends the whole message"),
      flag_row("software.post_validation", sets<&Software::post_validation>,
               "the optimizer does not wait for the gradients' norm (Zero Bubble)"),
      flag_row("software.shared_cores", sets<&Software::shared_cores>,
               "threads of the network use the cores of threads that launch kernels"),
      flag_row("software.one_queue", sets<&Software::one_queue>, example("true"),
               "kernels of all streams enter a GPU through one queue "
               "(CUDA_DEVICE_MAX_CONNECTIONS=1), so that a backward pass waits for each gradient "
               "reduction launched beside it but the last one"),
      flag_row("software.bucket_copies", sets<&Software::bucket_copies>, example("true"),
               "with communication.overlap: bucketed, gradients are copied into their buckets and "
               "back (PyTorch DDP without gradient_as_bucket_view)"),
  };
}

}  // namespace

Rows software_rows() {
  return joined({kernel_rows(), tensor_overlap_rows(), host_rows(), dispatch_rows()});
}

}  // namespace windtunnel
