#include "validate/accuracy/runs/training_stack.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

bool any(const TrainingRun&) {
  return true;
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

// FSDP of PyTorch, FlashAttention-2, no biases, ALiBi: no position embeddings are added.
void llm_foundry(const TrainingRun& run, Job& job) {
  const bool full = contains_text(run.schedule, "FULL_SHARD");
  job.layout.sharding = full ? Sharding::zero3 : Sharding::zero2;
  job.model.biases = false;
  job.model.position = PositionEncoding::rotary;
  job.software.portable_attention = true;
  job.software.fusion = Fusion::none;
  job.software.gradient_bytes = 4;
  job.software.reduce_bytes = 2;
  job.communication.overlap = GradientOverlap::bucketed;
}

void torchtitan(const TrainingRun& run, Job& job) {
  job.layout.sharding = Sharding::zero3;
  const bool compiled = contains_text(run.note, "compile") || run.precision == "fp8";
  job.software.fusion = compiled ? Fusion::partial : Fusion::none;
  job.software.portable_attention = true;  // of PyTorch's scaled_dot_product_attention
  job.software.reduce_bytes = 4;
  if (contains_text(run.note, "AsyncTP")) job.software.tp_overlap = TensorOverlap::pipelined;
  job.communication.overlap = GradientOverlap::bucketed;
  // Logits in 16 bit, in fp32, their log-softmax and its gradient; fp8 casts are not kept.
  job.software.logit_bytes = 14;
  job.software.scaled_copies = false;
  job.software.every_other_gemm = true;
  job.software.expandable_segments = true;           // run_train.sh
  job.layout.sequence_parallel = job.layout.tp > 1;  // its only form of tensor parallelism
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
  job.software.reduce_bytes = 2;
  job.software.fused_loss = true;
  if (job.layout.tp > 1) job.software.tp_overlap = TensorOverlap::pipelined;
  job.communication.overlap = GradientOverlap::bucketed;
}

// NeMo-Framework-Launcher's configurations of GPT-3, launcher_scripts/conf/training/gpt3: dropout,
// the scores of unfused attention computed again.
void nemo_launcher(const TrainingRun& run, Job& job) {
  megatron_core(run, job);
  job.model.dropout = true;
  job.model.attention = AttentionKernel::unfused;
  if (run.recompute.empty()) job.recompute = Recompute::selective;
}

// "NVIDIA Megatron-Bridge 26.04.01 NeMo Container" -> 2604; 0: not stated.
int container_of(const TrainingRun& run) {
  const std::string& text = run.source;
  for (std::size_t i = 0; i + 5 <= text.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      return std::isdigit(static_cast<unsigned char>(text[i + at])) != 0;
    };
    if (!digit(0) || !digit(1) || text[i + 2] != '.' || !digit(3) || !digit(4)) continue;
    return std::stoi(text.substr(i, 2) + text.substr(i + 3, 2));
  }
  return 0;
}

// What recipes of Megatron-Bridge for experts go by.
enum BridgeTrait : unsigned {
  kBlackwell = 1,
  kDeepSeek = 2,  // DeepSeek-V3, Kimi K2
  kGptOss = 4,
  kNoPipeline = 8,
  kLeavesNode = 16,    // tokens on their way to experts
  kDropsInRack = 32,   // tokens to full capacity, in one NVLink domain or without a pipeline
  kFusedKernels = 64,  // from 26.06 on in mxfp8; DeepSeek's moved with the micro-batch, from 2 to 1
};

unsigned bridge_traits(const TrainingRun& run, int container, const Job& job) {
  unsigned traits = 0;
  const auto add = [&](BridgeTrait trait, bool has) { traits |= has ? trait : 0U; };
  const bool blackwell = job.cluster.node.gpu.fp4_flops.value > 0;
  const bool deepseek = job.model.latent.kv_rank > 0;
  const bool no_pipeline = job.layout.pp == 1;
  add(kBlackwell, blackwell);
  add(kDeepSeek, deepseek);
  add(kGptOss, contains_text(run.model, "GPT OSS"));
  add(kNoPipeline, no_pipeline);
  add(kLeavesNode, job.layout.ep > job.cluster.node.gpus);
  add(kDropsInRack,
      contains_text(run.note, "tokendrop") && (job.cluster.node.gpus > 8 || no_pipeline));
  add(kFusedKernels, container >= 2606 && blackwell && job.precision == Precision::mxfp8 &&
                         (!deepseek || job.batch.micro == 1));
  return traits;
}

// Experts in Megatron-Bridge as its performance recipes have them (scripts/performance/configs):
// tokens dropped to full capacity and the whole iteration in one graph at first; then dropless, and
// graphs of what the router does not size; from 26.06 on, in mxfp8, graphs of whole iterations over
// padded experts, dispatch beside the compute of another micro-batch, experts in fused kernels. A
// row turns its choice on from a container on, for runs with all of some traits and none of others.
struct BridgeRow {
  bool Software::*choice;
  int since;
  unsigned with;
  unsigned without = 0;
};
constexpr std::array kBridgeExperts{
    // HybridEP (DeepEP): DeepSeek first; GPT-OSS only where fused.
    BridgeRow{&Software::ep_merged, 0, kFusedKernels},
    BridgeRow{&Software::ep_merged, 2511, kDeepSeek},
    BridgeRow{&Software::ep_merged, 2602, kBlackwell, kGptOss},
    BridgeRow{&Software::ep_merged, 2604, kNoPipeline, kGptOss},
    BridgeRow{&Software::cuda_graphs, 0, kFusedKernels},
    BridgeRow{&Software::cuda_graphs, 0, kDropsInRack | kBlackwell, kDeepSeek},  // 25.09: Qwen3's
    BridgeRow{&Software::dense_graphs, 2511, kBlackwell},
    BridgeRow{&Software::fused_experts, 0, kFusedKernels},
    BridgeRow{&Software::ep_overlap, 0, kFusedKernels},
    BridgeRow{&Software::ep_overlap, 0, kLeavesNode, kNoPipeline},
};

void bridge_experts(const TrainingRun& run, int container, Job& job) {
  const unsigned traits = bridge_traits(run, container, job);
  for (const BridgeRow& row : kBridgeExperts) {
    const bool holds =
        container >= row.since && (traits & row.with) == row.with && (traits & row.without) == 0;
    job.software.*row.choice |= holds;
  }
  const bool blackwell = (traits & kBlackwell) != 0;
  if (!blackwell) job.software.tp_overlap = TensorOverlap::none;
  // Norms and activations of GPT-OSS, where memory is short.
  const bool small = !(blackwell && contains_text(run.gpu_type, "300"));
  const bool short_of_memory = small && (traits & (kGptOss | kFusedKernels)) == kGptOss;
  if (short_of_memory && run.recompute.empty()) job.recompute = Recompute::selective;
}

void megatron_bridge(const TrainingRun& run, Job& job) {
  megatron_core(run, job);
  const int container = container_of(run);
  if (job.model.moe_layers() > 0) {
    bridge_experts(run, container, job);
  } else {
    // "Full iteration cuda graph for dense model without pipelining": release notes of 25.09.
    job.software.cuda_graphs = job.layout.pp == 1 && job.layout.sharding != Sharding::zero3;
  }
}

void mlperf(const TrainingRun& run, Job& job) {
  megatron_core(run, job);
  job.software.cuda_graphs = true;
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
// the name tells: --transformer-impl is local where it has no "te", and BERT's attention is unfused
// (--attention-backend).
void megatron_ci(const TrainingRun& run, Job& job) {
  const auto named = [&](std::string_view part) { return contains_text(run.model, part); };
  const bool real = named("memory_speed") || named("release");
  const bool sharded = real || named("dist_optimizer");
  job.layout.sharding = sharded ? Sharding::zero1 : Sharding::none;
  job.model.dropout = true;
  const bool overlaps = real || named("overlap_grad_reduce");
  job.communication.overlap = overlaps ? GradientOverlap::bucketed : GradientOverlap::none;
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
                  llm_foundry},
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
