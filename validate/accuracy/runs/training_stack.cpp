#include "validate/accuracy/runs/training_stack.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "traces/text/text.hpp"
#include "validate/accuracy/runs/adapter_run.hpp"
#include "validate/accuracy/runs/bridge_choices.hpp"
#include "validate/accuracy/runs/pytorch_stacks.hpp"

namespace windtunnel {
namespace {

bool any(const TrainingRun&) {
  return true;
}

// Megatron-Core: github.com/NVIDIA/Megatron-LM, core_v0.12.0,
// megatron/core/distributed/distributed_data_parallel.py, bucket_size.
void core_buckets(Job& job) {
  job.communication.bucket_elements = 40e6;
  job.communication.bucket_elements_per_replica = 1e6;
}

// Of so many elements, whatever the ranks.
void equal_buckets(double elements, Job& job) {
  job.communication.bucket_elements = elements;
  job.communication.bucket_elements_per_replica = 0;
}

// bucket_cap_mb of Apex's distributed_fused_adam, of 16-bit gradients.
void apex_buckets(double megabytes, Job& job) {
  equal_buckets(megabytes * 1024 * 1024 / 2, job);
}

// Megatron-LM before Transformer Engine and FlashAttention. It scatters what crosses a pipeline cut
// unless --no-scatter-gather-tensors-in-pipeline says otherwise, and DeepSpeed's pipeline engine
// does so always (is_pipe_partitioned, is_grad_partitioned).
void megatron_2021(const TrainingRun&, Job& job) {
  job.model.attention = AttentionKernel::unfused;
  job.model.dropout = true;
  job.software.gradient_bytes = 2;
  job.software.reduce_bytes = 2;
  job.software.scatter_sends = true;
  job.communication.overlap = GradientOverlap::none;
}

// Its pipeline engine sends with blocking calls on the stream that computes.
void megatron_deepspeed(const TrainingRun& run, Job& job) {
  job.software.sends = Sends::blocking;
  megatron_2021(run, job);
  if (contains_text(run.note, "ZeRO-1")) job.layout.sharding = Sharding::zero1;
}

// BLOOM's prequel. DeepSpeed 0.6, runtime/zero/stage_1_and_2.py: 16-bit gradients, reduced through
// a buffer of reduce_bucket_size, 5e8 elements; runtime/pipe/engine.py keeps outputs in its
// buffers.
void bloom(const TrainingRun& run, Job& job) {
  megatron_deepspeed(run, job);
  job.communication.bucket_bytes = 2 * 5e8;
  job.software.update_bytes = 8;
  job.software.held_outputs = true;
}

// The published column says that activations are recomputed; the times say that they are not: a
// layer of hidden 2048 takes 2.0 ms per sequence, three forwards' worth at 164 TFLOP/s of linear
// layers alone; four forwards would be 222 TFLOP/s, which no A100 sustains beside unfused
// attention, and which the same authors' multi-node runs of larger layers stay far below.
void vtrain_single_node(const TrainingRun& run, Job& job) {
  megatron_deepspeed(run, job);
  job.recompute = Recompute::none;
}

// nanotron's pipeline: a stage takes layers until its share of the matrices' weights is reached,
// the loss head's counted, the embedding's not.
void balance_by_cost(Job& job) {
  const TransformerSpec& model = job.model;
  const double layer = model.attention_parameters() + model.mlp_parameters();
  const double head = static_cast<double>(model.vocabulary) * model.hidden;
  const double share = (model.layers * layer + head) / job.layout.pp;
  std::vector<int> layers(job.layout.pp);
  std::size_t stage = 0;
  for (int placed = 1; placed <= model.layers; ++placed) {
    ++layers[stage];
    const double reached = share * static_cast<double>(stage + 1) * (1 - 1e-12);
    if (placed * layer >= reached && stage + 1 < layers.size()) ++stage;
  }
  job.layout.stage_layers = layers;
}

// Accumulates gradients in fp32, reduces after the last micro-batch's backward.
void nanotron(const TrainingRun& run, Job& job) {
  if (run.noted("zero_stage") == "1") job.layout.sharding = Sharding::zero1;
  job.software.fusion = Fusion::none;
  job.software.rotary_bytes = 0;  // FlashAttention's kernels
  job.software.fused_norms = true;
  job.software.reduce_bytes = 4;
  job.software.reduced_copy_bytes = 2;
  job.software.logit_bytes = 12;
  job.software.flat_copies = true;
  job.software.held_tensors = true;
  job.communication.overlap = GradientOverlap::none;
  balance_by_cost(job);
  job.software.portable_attention = true;  // its kernels are FlashAttention-2
  job.software.shared_cores = true;
}

// NeMo and Megatron-Bridge: Megatron-Core with its distributed optimizer and everything overlapped.
void megatron_core(const TrainingRun& run, Job& job) {
  job.layout.sharding = contains_text(run.schedule, "FSDP") || contains_text(run.note, "FSDP=")
                            ? Sharding::zero3
                            : Sharding::zero1;
  job.model.attention = AttentionKernel::flash;  // Transformer Engine's, cuDNN
  job.software.reduce_bytes = 2;
  job.software.fused_loss = true;
  // What runs beside tensor parallelism asks for sequence parallelism (--tp-comm-overlap), which
  // its configurations have on where a row does not say.
  if (job.layout.tp > 1 && !run.sequence_parallel) job.layout.sequence_parallel = true;
  if (job.layout.tp > 1 && job.layout.sequence_parallel) {
    job.software.tp_overlap = TensorOverlap::pipelined;
  }
  job.communication.overlap = GradientOverlap::bucketed;
  core_buckets(job);
  // Its selective recomputation is attention's unless modules are named (transformer_config.py).
  if (job.recompute == Recompute::selective) {
    job.recompute = Recompute::of(RecomputeModule::core_attn);
  }
}

// NeMo-Framework-Launcher's configurations of GPT-3, launcher_scripts/conf/training/gpt3: dropout,
// the scores of unfused attention computed again.
void nemo_launcher(const TrainingRun& run, Job& job) {
  megatron_core(run, job);
  apex_buckets(100, job);  // 175b_performance.yaml, 056a90ed
  job.model.dropout = true;
  job.model.attention = AttentionKernel::unfused;
  if (run.recompute.empty()) job.recompute = Recompute::selective;
}

void megatron_bridge(const TrainingRun& run, Job& job) {
  megatron_core(run, job);
  // github.com/NVIDIA-NeMo/Megatron-Bridge 067f987d, src/megatron/bridge/training/comm_overlap.py;
  // perf_recipes/gpt_oss/common.py.
  equal_buckets(contains_text(run.model, "GPT OSS") ? 768e6 : 128 * 1024 * 1024, job);
  choose_as_megatron_bridge(run, job);
}

// DeepSeek-V3's technical report (arXiv 2412.19437), section 3.3: moments in bf16; master weights
// and gradients in fp32, from which weights in fp8 are made, without a copy in 16 bit between
// (figure 6); SwiGLU keeps its input in fp8. What the linear layer behind attention keeps (E5M6) is
// taken as 16 bit, for attention's own backward pass reads it too.
void deepseek(const TrainingRun& run, Job& job) {
  megatron_core(run, job);
  job.software.moment_bytes = 2;
  job.software.scaled_weights = true;
  job.software.fp8_activation_inputs = true;
}

// Buckets of GPT-3: github.com/mlcommons/training_results_v3.0 9f08e30c, NVIDIA/benchmarks/gpt3,
// megatron_gpt_config.yaml, and the same in v4.0 62f111b7; of Llama 3.1 8B: BUCKET_SIZE in
// github.com/Richardyu114/training_results_v6.0 eabf23a0, config_GB200_256x4x1xtp4pp1cp4_8b.sh.
void mlperf(const TrainingRun& run, Job& job) {
  megatron_core(run, job);
  if (contains_text(run.model, "GPT-3")) apex_buckets(100, job);
  if (contains_text(run.source, "v6.0") && contains_text(run.model, "3.1 8B")) {
    equal_buckets(768e6, job);
  }
  job.software.cuda_graphs = true;
}

// NeMo packs the samples of SQuAD, some 250 tokens each, into sequences of which each sample
// attends to itself alone (nemo/collections/llm/recipes, packed_sequence).
void unpack_samples(Job& job) {
  constexpr int kSample = 256;
  const int samples = job.batch.sequence / kSample;
  if (samples < 2 || job.layout.cp > 1) return;
  job.batch.sequence = job.model.sequence = kSample;
  job.batch.micro *= samples;
  job.batch.global *= samples;
}

// bucket_cap_mb of Apex's distributed_fused_adam in each configuration, 16-bit gradients:
// llama3.1/*.yaml, nemo_megatron/gpt3_175b_hydra.yaml, nemotron/*.yaml. Grok-1's is
// Megatron-Core's.
void dgxc_buckets(const TrainingRun& run, Job& job) {
  constexpr std::pair<std::string_view, double> kMegabytes[] = {
      {"405B", 125}, {"70B", 75}, {"8B", 75}, {"GPT-3", 220}, {"Nemotron4 15B", 100}, {"340B", 50}};
  for (const auto& [name, megabytes] : kMegabytes) {
    if (!contains_text(run.model, name)) continue;
    apex_buckets(megabytes, job);
    return;
  }
}

// NVIDIA's dgxc-benchmarking (35a9aecc to 143b90dd): configurations of NeMo, nemo_megatron/
// gpt3_175b_hydra.yaml (dropout), grok1/grok1_314b.yaml (experts padded to their capacity, a GEMM
// each, ub_tp_comm_overlap false).
void dgxc(const TrainingRun& run, Job& job) {
  megatron_core(run, job);
  dgxc_buckets(run, job);
  if (contains_text(run.model, "GPT-3")) job.model.dropout = true;
  if (contains_text(run.note, "fine-tuning")) unpack_samples(job);
  // That Megatron-Core of its time slices experts by tp, whose ranks gather what arrives, and that
  // groups of ep are then tp apart, over several nodes, is not counted.
  if (job.model.moe_layers() > 0) job.software.tp_overlap = TensorOverlap::none;
}

// JAX, whose compiler makes one program of a step: MaxText and PaxML of dgxc-benchmarking,
// maxtext/configure.sh (remat_policy save_qkv_proj; cuDNN's attention; FSDP over 16 nodes from 64
// on), paxml/configure.sh (FSDP over 16 nodes for 175B, over one for 5B) and paxml_mod_configs.py
// (what is kept: all products of 5B; queries, keys, values and both projections of 175B). What a
// policy keeps is not told apart further than by `selective` and `full`.
void jax(const TrainingRun& run, Job& job) {
  Layout& layout = job.layout;
  layout.sharding = Sharding::zero3;
  const bool small = run.parameters == "5B";
  const int group = small ? job.cluster.node.gpus : 16 * job.cluster.node.gpus;
  const bool divided = contains_text(run.note, "PaxML") || layout.dp >= 64 * job.cluster.node.gpus;
  if (divided && layout.dp > group && layout.dp % group == 0) layout.shard_ranks = group;
  if (run.recompute.empty()) job.recompute = small ? Recompute::selective : Recompute::full;
  job.model.attention = AttentionKernel::flash;
  job.software.early_stop = true;
  job.software.cuda_graphs = true;
  job.software.reduce_bytes = 2;
  job.communication.overlap = GradientOverlap::bucketed;
}

// Decentralised training over sockets (DT-FM: Yuan et al. 2022, arXiv 2206.01288, section 4):
// GPipe, copies to and from the network on streams of their own, gradients exchanged after the last
// micro-batch.
void decentralised(const TrainingRun&, Job& job) {
  job.model.attention = AttentionKernel::unfused;
  job.software.gradient_bytes = 2;
  job.software.reduce_bytes = 2;
  job.communication.overlap = GradientOverlap::none;
}

// InternLM's trainer: github.com/InternLM/InternEvo. "ZeRO-1 group n" shards optimizer states over
// n neighbours.
void intern_evo(const TrainingRun& run, Job& job) {
  Layout& layout = job.layout;
  layout.sharding = contains_text(run.schedule, "FSDP") ? Sharding::zero3 : Sharding::zero1;
  if (contains_text(run.schedule, "group 8") && layout.dp % 8 == 0) layout.shard_ranks = 8;
  job.software.portable_attention = true;
  job.software.gradient_bytes = 2;
  job.software.reduce_bytes = 2;
  // Flat 16-bit gradients and their fp32 copy (hybrid_zero_optim.py); AdamW as PyTorch has it by
  // itself, neither fused nor in a loop, holds a root of all second moments (its documentation:
  // about as much memory as the parameters).
  job.software.update_bytes = 2 + 4 + 4;
  job.communication.overlap = GradientOverlap::bucketed;
}

// MLPerf's Llama 2 70B with adapters. NVIDIA's software has the iteration in one graph. AMD's
// configuration of one node of MI300X (github.com/mlcommons/training_results_v5.1,
// Krai/benchmarks/llama2_70b_lora/implementations/PowerEdge-XE9680-MI300X-192GB_n1_v5.0,
// config_MI300X_1x8x1.sh) recomputes 21 layers whole (ACG, ACM, ACL); its FP8_ACTIVATION is taken
// for Megatron-Core's activation_func_fp8_input_store. Each of its GPUs holds the whole model,
// which 192 GB have no room for in 16 bit and in fp8: the weights are taken to be in fp8 alone
// (NeMo's fp8_params).
void mlperf_adapters(const TrainingRun& run, Job& job) {
  megatron_core(run, job);
  job.layout.sharding = Sharding::none;
  const bool amd = contains_text(run.gpu_type, "MI3");
  job.software.cuda_graphs = !amd;
  job.software.scaled_weights = amd;
  if (run.gpu_type != "MI300X" || job.layout.cp > 1) return;
  job.recompute = Recompute::full;
  job.recompute.method = RecomputeMethod::block;
  job.recompute.layers = 21;
  job.software.fp8_activation_inputs = true;
}

void zero_bubble(const TrainingRun&, Job& job) {
  job.model.attention = AttentionKernel::unfused;
  job.model.dropout = true;
  job.software.gradient_bytes = 2;
  job.communication.overlap = GradientOverlap::none;
  job.model.tied_embeddings = false;
  // Megatron's own schedules, with --no-overlap-p2p-communication: what is sent is waited for. The
  // authors' schedules wait for what they receive only (zb_schedules.py, send_handles).
  if (job.schedule.name.ends_with("1f1b")) job.software.sends = Sends::blocking;
}

// As the model_config.yaml beside each test says. Releases and memory tests are those of real
// training: Transformer Engine, the distributed optimizer, everything overlapped. Of the small ones
// the name tells: --transformer-impl is local where it has "mcore_tp" or "local_spec", and BERT's
// attention is unfused (--attention-backend).
void megatron_ci(const TrainingRun& run, Job& job) {
  const auto named = [&](std::string_view part) { return contains_text(run.model, part); };
  const bool real = named("memory_speed") || named("release");
  const bool sharded = real || named("dist_optimizer");
  job.layout.sharding = sharded ? Sharding::zero1 : Sharding::none;
  job.model.dropout = true;
  const bool overlaps = real || named("overlap_grad_reduce");
  job.communication.overlap = overlaps ? GradientOverlap::bucketed : GradientOverlap::none;
  core_buckets(job);
  if (named("gpt3_7b")) job.model.tied_embeddings = false;
  const bool local = named("mcore_tp") || named("local_spec") || named("bert");
  if (local && !real) {
    job.model.attention = AttentionKernel::unfused;
    job.software.host_share = 0.7;
  }
  // Norms of parameters and zeros of gradients are counted in each step (--log-params-norm,
  // --log-num-zeros-in-grad). Fitted with host.launch on the same rows.
  constexpr std::pair<std::string_view, double> kStepSeconds[] = {
      {"A100", 53e-3}, {"H100", 22e-3}, {"GB200", 28e-3}};
  for (const auto& [gpu, seconds] : kStepSeconds) {
    if (contains_text(run.gpu_type, gpu)) job.software.host_step_s = seconds;
  }
}

void unknown(const TrainingRun& run, Job& job) {
  // Before FlashAttention and sequence parallelism, full recomputation in fp16 was the rule.
  const bool early = contains_text(run.precision, "fp16") && contains_text(run.recompute, "full") &&
                     !run.sequence_parallel.value_or(false);
  if (early) {
    megatron_deepspeed(run, job);
  } else {
    megatron_core(run, job);
    job.software.tp_overlap = TensorOverlap::none;
  }
}

void seq1f1b(const TrainingRun& run, Job& job) {
  megatron_core(run, job);
  job.software.tp_overlap = TensorOverlap::none;
  // Sends and receives are batched and waited for.
  job.software.sends = Sends::blocking;
}

constexpr std::array kStacks{
    TrainingStack{"Megatron-DeepSpeed on one node", "github.com/VIA-Research/vTrain",
                  [](const TrainingRun& run) {
                    return contains_text(run.source, "vTrain") &&
                           contains_text(run.source, "single node");
                  },
                  vtrain_single_node, "a100-single-node", "a100-80"},
    TrainingStack{"Megatron-DeepSpeed of BLOOM",
                  "github.com/bigscience-workshop/bigscience, train/tr11-176B-ml",
                  [](const TrainingRun& run) { return contains_text(run.source, "BLOOM"); }, bloom},
    TrainingStack{"Megatron-DeepSpeed", "github.com/bigscience-workshop/Megatron-DeepSpeed",
                  [](const TrainingRun& run) {
                    return contains_text(run.source, "vTrain") ||
                           contains_text(run.schedule, "DeepSpeed");
                  },
                  megatron_deepspeed, "a100-single-node", "a100-80"},
    TrainingStack{"Megatron-LM 2021", "arXiv 2104.04473, section 4",
                  [](const TrainingRun& run) {
                    return contains_text(run.source, "SC21") ||
                           contains_text(run.source, "Megatron-LM README");
                  },
                  megatron_2021},
    TrainingStack{"llm-foundry", "github.com/mosaicml/llm-foundry, scripts/train/benchmarking",
                  [](const TrainingRun& run) {
                    return contains_text(run.source, "MosaicML") || contains_text(run.model, "MPT");
                  },
                  llm_foundry, "h100-pytorch", "h100"},
    TrainingStack{"torchtitan", "arXiv 2410.06511",
                  [](const TrainingRun& run) { return contains_text(run.source, "torchtitan"); },
                  torchtitan},
    TrainingStack{"nanotron", "github.com/huggingface/nanotron",
                  [](const TrainingRun& run) { return contains_text(run.source, "nanotron"); },
                  nanotron, "h100-sweep", "h100"},
    TrainingStack{"Megatron-LM 2023 of Seq1F1B", "github.com/MayDomine/Seq1F1B",
                  [](const TrainingRun& run) { return contains_text(run.source, "Seq1F1B"); },
                  seq1f1b},
    TrainingStack{"Megatron-LM 2023", "github.com/sail-sg/zero-bubble-pipeline-parallelism",
                  [](const TrainingRun& run) { return contains_text(run.source, "Zero Bubble"); },
                  zero_bubble},
    TrainingStack{
        "Megatron-Core tests", "github.com/NVIDIA/Megatron-LM, tests/functional_tests",
        [](const TrainingRun& run) { return contains_text(run.source, "Megatron-LM CI"); },
        megatron_ci},
    TrainingStack{"MLPerf submissions of Llama 2 70B with adapters",
                  "github.com/mlcommons/training_results_v5.0",
                  [](const TrainingRun& run) {
                    return contains_text(run.source, "MLPerf") && trains_adapters(run);
                  },
                  mlperf_adapters},
    TrainingStack{"JAX of dgxc-benchmarking", "github.com/NVIDIA/dgxc-benchmarking, maxtext, paxml",
                  [](const TrainingRun& run) {
                    return contains_text(run.note, "MaxText") || contains_text(run.note, "PaxML");
                  },
                  jax},
    TrainingStack{"NeMo of dgxc-benchmarking", "github.com/NVIDIA/dgxc-benchmarking",
                  [](const TrainingRun& run) { return contains_text(run.source, "dgxc"); }, dgxc},
    TrainingStack{"fms-fsdp", "github.com/foundation-model-stack/fms-fsdp",
                  [](const TrainingRun& run) {
                    return contains_text(run.source, "fms-fsdp") ||
                           contains_text(run.source, "IBM");
                  },
                  fms_fsdp, "h100-pytorch", "h100"},
    TrainingStack{"DT-FM", "arXiv 2206.01288",
                  [](const TrainingRun& run) { return contains_text(run.source, "Decentralised"); },
                  decentralised},
    TrainingStack{"InternEvo", "github.com/InternLM/InternEvo",
                  [](const TrainingRun& run) { return contains_text(run.source, "InternEvo"); },
                  intern_evo},
    TrainingStack{"LitGPT", "github.com/Lightning-AI/litgpt",
                  [](const TrainingRun& run) { return contains_text(run.source, "LitGPT"); },
                  litgpt},
    TrainingStack{"torchtune", "github.com/pytorch/torchtune",
                  [](const TrainingRun& run) { return contains_text(run.source, "torchtune"); },
                  torchtune},
    TrainingStack{"plain PyTorch", "validate/harness/pytorch/measure_steps.py",
                  [](const TrainingRun& run) { return contains_text(run.source, "measure_steps"); },
                  plain_pytorch},
    TrainingStack{"DeepSeek-AI", "arXiv 2412.19437",
                  [](const TrainingRun& run) { return contains_text(run.source, "DeepSeek-AI"); },
                  deepseek},
    TrainingStack{"MLPerf submissions", "github.com/mlcommons/training_results_v3.1",
                  [](const TrainingRun& run) { return contains_text(run.source, "MLPerf"); },
                  mlperf},
    TrainingStack{"NeMo-Framework-Launcher", "github.com/NVIDIA/NeMo-Framework-Launcher",
                  [](const TrainingRun& run) { return contains_text(run.source, "Launcher"); },
                  nemo_launcher},
    TrainingStack{
        "Megatron-Bridge", "github.com/NVIDIA-NeMo/Megatron-Bridge, scripts/performance",
        [](const TrainingRun& run) { return contains_text(run.source, "Megatron-Bridge"); },
        megatron_bridge},
    TrainingStack{"NeMo", "docs.nvidia.com/nemo-framework, performance guides",
                  [](const TrainingRun& run) {
                    return contains_text(run.source, "NeMo") ||
                           contains_text(run.source, "Megatron-Core");
                  },
                  megatron_core},
    TrainingStack{"unknown", "Megatron-Core's defaults; of its time where the row looks early", any,
                  unknown},
};

}  // namespace

const TrainingStack& stack_of(const TrainingRun& run) {
  return *std::ranges::find_if(kStacks,
                               [&](const TrainingStack& stack) { return stack.matches(run); });
}

}  // namespace windtunnel
