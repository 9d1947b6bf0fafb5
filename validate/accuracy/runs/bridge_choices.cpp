#include "validate/accuracy/runs/bridge_choices.hpp"

#include <array>
#include <cctype>
#include <string>

#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

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
  kLeavesNode = 16,   // tokens on their way to experts
  kDropsInRack = 32,  // tokens to full capacity, in one NVLink domain or without a pipeline
  // From 26.06 on in mxfp8; DeepSeek's moved with the micro-batch, from 2 to 1. Not those with
  // Mamba layers, whose recipes (perf_recipes/nemotronh) have graphs of "attn, mamba, moe_router,
  // moe_preprocess" and HybridEP, and no overlap of experts.
  kFusedKernels = 64,
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
                         (!deepseek || job.batch.micro == 1) && job.model.pattern.empty());
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

}  // namespace

void choose_as_megatron_bridge(const TrainingRun& run, Job& job) {
  const int container = container_of(run);
  if (job.model.moe_layers() > 0) {
    bridge_experts(run, container, job);
  } else {
    // "Full iteration cuda graph for dense model without pipelining": release notes of 25.09.
    job.software.cuda_graphs = job.layout.pp == 1 && job.layout.sharding != Sharding::zero3;
  }
}

}  // namespace windtunnel
