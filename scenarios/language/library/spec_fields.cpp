#include "scenarios/language/library/spec_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace windtunnel {
namespace {

constexpr std::array kGpuFields{
    ParameterField<GpuSpec>{"fp32", Dimension::flops_per_s, &GpuSpec::fp32_flops},
    ParameterField<GpuSpec>{"tf32", Dimension::flops_per_s, &GpuSpec::tf32_flops, true, true},
    ParameterField<GpuSpec>{"fp16", Dimension::flops_per_s, &GpuSpec::fp16_flops, true, true},
    ParameterField<GpuSpec>{"bf16", Dimension::flops_per_s, &GpuSpec::bf16_flops, true, true},
    ParameterField<GpuSpec>{"fp8", Dimension::flops_per_s, &GpuSpec::fp8_flops, true, true},
    ParameterField<GpuSpec>{"fp4", Dimension::flops_per_s, &GpuSpec::fp4_flops, true, true},
    ParameterField<GpuSpec>{
        "memory", Dimension::bytes, &GpuSpec::memory_bytes, true, false, {1e6, 1e15}},
    ParameterField<GpuSpec>{"memory_bandwidth", Dimension::bytes_per_s, &GpuSpec::memory_Bps},
    ParameterField<GpuSpec>{"sms", Dimension::number, &GpuSpec::sms, true, false, {1, 1e6}},
    ParameterField<GpuSpec>{"l2", Dimension::bytes, &GpuSpec::l2_bytes, true, false, {1, 1e12}},
};

constexpr std::array kNodeFields{
    ParameterField<NodeSpec>{"nvlink", Dimension::bytes_per_s, &NodeSpec::nvlink_Bps},
    ParameterField<NodeSpec>{"package", Dimension::bytes_per_s, &NodeSpec::package_Bps, false},
    ParameterField<NodeSpec>{"nic", Dimension::bytes_per_s, &NodeSpec::nic_Bps},
    ParameterField<NodeSpec>{"pcie", Dimension::bytes_per_s, &NodeSpec::pcie_Bps},
    ParameterField<NodeSpec>{
        "host_memory", Dimension::bytes, &NodeSpec::host_memory_bytes, true, false, {1e6, 1e15}},
    ParameterField<NodeSpec>{"host_memory_bandwidth", Dimension::bytes_per_s,
                             &NodeSpec::host_memory_Bps},
    ParameterField<NodeSpec>{
        "cpu_cores", Dimension::number, &NodeSpec::cpu_cores, true, false, {1, 1e6}},
    ParameterField<NodeSpec>{"storage_nic", Dimension::bytes_per_s, &NodeSpec::storage_nic_Bps},
    ParameterField<NodeSpec>{"local_disk", Dimension::bytes_per_s, &NodeSpec::local_disk_Bps,
                             false},
    ParameterField<NodeSpec>{"local_disk_capacity", Dimension::bytes, &NodeSpec::local_disk_bytes,
                             false},
    ParameterField<NodeSpec>{"host_bridge", Dimension::bytes_per_s, &NodeSpec::host_bridge_Bps,
                             false},
};

using FabricParameter = ParameterField<FabricSpec>;
constexpr std::array kFabricParameters{
    FabricParameter{"link", Dimension::bytes_per_s, &FabricSpec::link_Bps, false},
    FabricParameter{"local", Dimension::bytes_per_s, &FabricSpec::local_Bps, false},
    FabricParameter{"global", Dimension::bytes_per_s, &FabricSpec::global_Bps, false},
    FabricParameter{"wan", Dimension::bytes_per_s, &FabricSpec::wan_Bps, false},
    FabricParameter{"wan_latency", Dimension::seconds, &FabricSpec::wan_latency_s, false},
    FabricParameter{"hop_latency", Dimension::seconds, &FabricSpec::hop_latency_s},
};

using FabricSize = SizeField<FabricSpec>;
constexpr std::array kFabricSizes{
    FabricSize{"nodes_per_pod", &FabricSpec::nodes_per_pod, false},
    FabricSize{"nodes_per_leaf", &FabricSpec::nodes_per_leaf, false},
    FabricSize{"nodes_per_router", &FabricSpec::nodes_per_router, false},
    FabricSize{"routers_per_group", &FabricSpec::routers_per_group, false},
    FabricSize{"uplinks", &FabricSpec::uplinks, false},
    FabricSize{"parts", &FabricSpec::parts, false},
};

constexpr std::array kFabricRatios{
    FabricRatio{"pod_oversubscription", &FabricSpec::pod_oversubscription},
    FabricRatio{"leaf_oversubscription", &FabricSpec::leaf_oversubscription},
};

constexpr unsigned bit(Topology topology) {
  return 1U << static_cast<unsigned>(topology);
}
constexpr unsigned kTrees = bit(Topology::rail_fat_tree) | bit(Topology::fat_tree) |
                            bit(Topology::rail_only) | bit(Topology::clos);
constexpr std::array kFormKeys{
    FormKey{"nodes_per_pod", kTrees},
    FormKey{"pod_oversubscription", kTrees},
    FormKey{"uplinks", kTrees},
    FormKey{"nodes_per_leaf", bit(Topology::clos)},
    FormKey{"leaf_oversubscription", bit(Topology::clos)},
    FormKey{"dimensions", bit(Topology::torus)},
    FormKey{"link", bit(Topology::torus)},
    FormKey{"dimension_links", bit(Topology::torus)},
    FormKey{"nodes_per_router", bit(Topology::dragonfly)},
    FormKey{"routers_per_group", bit(Topology::dragonfly)},
    FormKey{"local", bit(Topology::dragonfly)},
    FormKey{"global", bit(Topology::dragonfly)},
    FormKey{"sites", bit(Topology::sites)},
    FormKey{"wan", bit(Topology::sites)},
    FormKey{"wan_latency", bit(Topology::sites)},
    FormKey{"edges", bit(Topology::graph)},
    FormKey{"edges_file", bit(Topology::graph)},
};

using ModelSize = SizeField<TransformerSpec>;
constexpr std::array kModelSizes{
    ModelSize{"layers", &TransformerSpec::layers},
    ModelSize{"hidden", &TransformerSpec::hidden},
    ModelSize{"heads", &TransformerSpec::heads},
    ModelSize{"kv_heads", &TransformerSpec::kv_heads},
    ModelSize{"head_width", &TransformerSpec::head_width, false},
    ModelSize{"ffn", &TransformerSpec::ffn_hidden},
    ModelSize{"vocabulary", &TransformerSpec::vocabulary},
    ModelSize{"sequence", &TransformerSpec::sequence},
    ModelSize{"frames", &TransformerSpec::frames, false},
    ModelSize{"window", &TransformerSpec::window, false},
    ModelSize{"global_every", &TransformerSpec::global_every, false},
    ModelSize{"modulation", &TransformerSpec::modulation, false},
    ModelSize{"text_tokens", &TransformerSpec::text_tokens, false},
    ModelSize{"conditioning", &TransformerSpec::conditioning, false},
};

using MoeSize = SizeField<MixtureOfExperts>;
constexpr std::array kMoeSizes{
    MoeSize{"experts", &MixtureOfExperts::experts},
    MoeSize{"per_token", &MixtureOfExperts::per_token},
    MoeSize{"ffn", &MixtureOfExperts::ffn_hidden},
    MoeSize{"shared_ffn", &MixtureOfExperts::shared_ffn, false},
    MoeSize{"dense_layers", &MixtureOfExperts::dense_layers, false},
    MoeSize{"latent_size", &MixtureOfExperts::latent_width, false},
};

using LatentSize = SizeField<LatentAttention>;
constexpr std::array kLatentSizes{
    LatentSize{"query_rank", &LatentAttention::query_rank, false},
    LatentSize{"kv_rank", &LatentAttention::kv_rank},
    LatentSize{"rotary_width", &LatentAttention::rotary_width},
    LatentSize{"value_width", &LatentAttention::value_width},
};

using MambaSize = SizeField<MambaMixer>;
constexpr std::array kMambaSizes{
    MambaSize{"state_dim", &MambaMixer::state},
    MambaSize{"head_dim", &MambaMixer::head_width},
    MambaSize{"num_groups", &MambaMixer::groups},
    MambaSize{"num_heads", &MambaMixer::heads},
    MambaSize{"chunk_size", &MambaMixer::chunk, false},
};

constexpr std::array kModelFlags{
    ModelFlag{"biases", &TransformerSpec::biases},
    ModelFlag{"tied_embeddings", &TransformerSpec::tied_embeddings},
    ModelFlag{"dropout", &TransformerSpec::dropout},
    ModelFlag{"separate_projections", &TransformerSpec::separate_projections, false},
    ModelFlag{"encoder", &TransformerSpec::encoder, false},
    ModelFlag{"bidirectional", &TransformerSpec::bidirectional, false},
};

void check_experts(const MixtureOfExperts& moe, int layers) {
  if (moe.per_token < 1 || moe.per_token > moe.experts) {
    throw Error(fmt::format("model.moe.per_token {} is not from 1 to the {} experts", moe.per_token,
                            moe.experts));
  }
  if (moe.ffn_hidden < 1) {
    throw Error::about({"model.moe"},
                       "model.moe has no 'ffn', the width of one expert; add e.g. 'ffn: 2048'");
  }
  if (moe.dense_layers > layers) {
    throw Error(fmt::format("model.moe.dense_layers {} is more than the {} layers",
                            moe.dense_layers, layers));
  }
}

// Nothing of a pattern is left to a default, and nothing stands beside it for nothing.
void check_pattern_letters(const TransformerSpec& model) {
  const std::string key = "model.hybrid_override_pattern";
  const MambaMixer& mamba = model.mamba;
  for (const char letter : model.pattern) {
    if (std::ranges::find(kBlockLetters, letter, &BlockLetter::letter) != kBlockLetters.end()) {
      continue;
    }
    throw Error(
        fmt::format("{}: '{}' is no kind of layer; known: M (Mamba), * (attention), - "
                    "(MLP), E (experts), D, d and S (blocks of two streams, the last of "
                    "them, of one stream)",
                    key, letter));
  }
  const int listed = static_cast<int>(model.pattern.size());
  if (listed > 0 && listed != model.layers) {
    throw Error(fmt::format("{} lists {} layers and model.layers is {}; leave one of them out", key,
                            listed, model.layers));
  }
  const bool has_m = model.layers_with(has_mamba) > 0;
  if (has_m && (mamba.state < 1 || mamba.head_width < 1 || mamba.groups < 1 || mamba.heads < 1)) {
    throw Error(
        fmt::format("{} has layers of Mamba; state model.mamba: {{state_dim: 128, "
                    "head_dim: 64, num_groups: 8, num_heads: ...}}",
                    key));
  }
  if (has_m && mamba.heads % mamba.groups != 0) {
    throw Error(fmt::format("model.mamba: {} heads do not share {} groups evenly", mamba.heads,
                            mamba.groups));
  }
  if (listed > 0 && model.layers_with(has_experts) > 0 && model.moe.experts == 0) {
    throw Error(fmt::format("{} has layers of experts; state model.moe", key));
  }
  if (listed > 0 && model.layers_with(has_experts) == 0 && model.moe.experts > 0) {
    throw Error(fmt::format("model.moe: no layer of {} is one of experts (E)", key));
  }
  if (listed > 0 && model.moe.dense_layers > 0) {
    throw Error(fmt::format("model.moe.dense_layers: {} says which layers are dense", key));
  }
  if (model.text_tokens > 0 && model.layers_with(has_two_streams) == 0) {
    throw Error(
        fmt::format("model.text_tokens: no layer of the model has two streams; list them "
                    "in {} (D)",
                    key));
  }
}

}  // namespace

std::span<const ParameterField<GpuSpec>> gpu_fields() {
  return kGpuFields;
}
std::span<const ParameterField<NodeSpec>> node_fields() {
  return kNodeFields;
}
std::span<const ParameterField<FabricSpec>> fabric_parameters() {
  return kFabricParameters;
}
std::span<const SizeField<FabricSpec>> fabric_sizes() {
  return kFabricSizes;
}
std::span<const FabricRatio> fabric_ratios() {
  return kFabricRatios;
}
std::span<const FormKey> form_keys() {
  return kFormKeys;
}
bool belongs_to(std::string_view key, Topology topology) {
  for (const FormKey& each : kFormKeys) {
    if (each.key == key) return each.holds_for(topology);
  }
  return true;
}
std::span<const SizeField<TransformerSpec>> model_sizes() {
  return kModelSizes;
}
std::span<const SizeField<MixtureOfExperts>> moe_sizes() {
  return kMoeSizes;
}
std::span<const SizeField<LatentAttention>> latent_sizes() {
  return kLatentSizes;
}
std::span<const SizeField<MambaMixer>> mamba_sizes() {
  return kMambaSizes;
}
std::span<const ModelFlag> model_flags() {
  return kModelFlags;
}

void check_model(const TransformerSpec& model) {
  if (model.moe.experts > 0) check_experts(model.moe, model.layers);
  check_pattern_letters(model);
  const LatentAttention& latent = model.latent;
  if (latent.kv_rank > 0 && latent.value_width < 1) {
    throw Error("model.latent has no 'value_width', the width of a head's values");
  }
  if (latent.kv_rank == 0 && latent.rotary_width > 0) {
    throw Error("model.latent has no 'kv_rank', the width of the compressed keys and values");
  }
  if (model.window > 0 && model.frames > 0) {
    throw Error("model.window: with model.frames layers see whole frames; keep one of them");
  }
  if (model.bidirectional && model.attention == AttentionKernel::linear) {
    throw Error("model.bidirectional: linear attention is causal; take flash or unfused");
  }
}

}  // namespace windtunnel
