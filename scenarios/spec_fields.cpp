#include "scenarios/spec_fields.hpp"

#include <fmt/format.h>

#include <array>

namespace windtunnel {
namespace {

constexpr std::array kGpuFields{
    ParameterField<GpuSpec>{"fp32", Dimension::flops_per_s, &GpuSpec::fp32_flops},
    ParameterField<GpuSpec>{"tf32", Dimension::flops_per_s, &GpuSpec::tf32_flops},
    ParameterField<GpuSpec>{"fp16", Dimension::flops_per_s, &GpuSpec::fp16_flops},
    ParameterField<GpuSpec>{"bf16", Dimension::flops_per_s, &GpuSpec::bf16_flops},
    ParameterField<GpuSpec>{"fp8", Dimension::flops_per_s, &GpuSpec::fp8_flops},
    ParameterField<GpuSpec>{"fp4", Dimension::flops_per_s, &GpuSpec::fp4_flops},
    ParameterField<GpuSpec>{"memory", Dimension::bytes, &GpuSpec::memory_bytes},
    ParameterField<GpuSpec>{"memory_bandwidth", Dimension::bytes_per_s, &GpuSpec::memory_Bps},
    ParameterField<GpuSpec>{"sms", Dimension::number, &GpuSpec::sms},
    ParameterField<GpuSpec>{"l2", Dimension::bytes, &GpuSpec::l2_bytes},
};

constexpr std::array kNodeFields{
    ParameterField<NodeSpec>{"nvlink", Dimension::bytes_per_s, &NodeSpec::nvlink_Bps},
    ParameterField<NodeSpec>{"package", Dimension::bytes_per_s, &NodeSpec::package_Bps, false},
    ParameterField<NodeSpec>{"nic", Dimension::bytes_per_s, &NodeSpec::nic_Bps},
    ParameterField<NodeSpec>{"pcie", Dimension::bytes_per_s, &NodeSpec::pcie_Bps},
    ParameterField<NodeSpec>{"host_memory", Dimension::bytes, &NodeSpec::host_memory_bytes},
    ParameterField<NodeSpec>{"host_memory_bandwidth", Dimension::bytes_per_s,
                             &NodeSpec::host_memory_Bps},
    ParameterField<NodeSpec>{"cpu_cores", Dimension::number, &NodeSpec::cpu_cores},
    ParameterField<NodeSpec>{"storage_nic", Dimension::bytes_per_s, &NodeSpec::storage_nic_Bps},
    ParameterField<NodeSpec>{"local_disk", Dimension::bytes_per_s, &NodeSpec::local_disk_Bps,
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
};

using MoeSize = SizeField<MixtureOfExperts>;
constexpr std::array kMoeSizes{
    MoeSize{"experts", &MixtureOfExperts::experts},
    MoeSize{"per_token", &MixtureOfExperts::per_token},
    MoeSize{"ffn", &MixtureOfExperts::ffn_hidden},
    MoeSize{"shared_ffn", &MixtureOfExperts::shared_ffn, false},
    MoeSize{"dense_layers", &MixtureOfExperts::dense_layers, false},
};

using LatentSize = SizeField<LatentAttention>;
constexpr std::array kLatentSizes{
    LatentSize{"query_rank", &LatentAttention::query_rank, false},
    LatentSize{"kv_rank", &LatentAttention::kv_rank},
    LatentSize{"rotary_width", &LatentAttention::rotary_width},
    LatentSize{"value_width", &LatentAttention::value_width},
};

constexpr std::array kModelFlags{
    ModelFlag{"biases", &TransformerSpec::biases},
    ModelFlag{"tied_embeddings", &TransformerSpec::tied_embeddings},
    ModelFlag{"dropout", &TransformerSpec::dropout},
    ModelFlag{"separate_projections", &TransformerSpec::separate_projections, false},
    ModelFlag{"encoder", &TransformerSpec::encoder, false},
};

constexpr std::array kActivations{Choice<Activation>{"gelu", Activation::gelu},
                                  Choice<Activation>{"swiglu", Activation::swiglu}};
constexpr std::array kNormalisations{Choice<Normalisation>{"layer-norm", Normalisation::layer_norm},
                                     Choice<Normalisation>{"rms-norm", Normalisation::rms_norm}};
constexpr std::array kPositions{Choice<PositionEncoding>{"learned", PositionEncoding::learned},
                                Choice<PositionEncoding>{"rotary", PositionEncoding::rotary}};
constexpr std::array kAttentions{Choice<AttentionKernel>{"flash", AttentionKernel::flash},
                                 Choice<AttentionKernel>{"unfused", AttentionKernel::unfused},
                                 Choice<AttentionKernel>{"linear", AttentionKernel::linear}};
constexpr Choice<Topology> kTopologies[] = {{"rail-fat-tree", Topology::rail_fat_tree},
                                            {"fat-tree", Topology::fat_tree},
                                            {"rail-only", Topology::rail_only},
                                            {"clos", Topology::clos},
                                            {"torus", Topology::torus},
                                            {"dragonfly", Topology::dragonfly},
                                            {"sites", Topology::sites},
                                            {"graph", Topology::graph}};
constexpr Choice<Transport> kTransports[] = {{"infiniband", Transport::infiniband},
                                             {"roce", Transport::roce},
                                             {"slingshot", Transport::slingshot},
                                             {"efa", Transport::efa},
                                             {"tcpx", Transport::tcpx},
                                             {"tcpxo", Transport::tcpxo},
                                             {"tcp", Transport::tcp}};
constexpr Choice<Routing> kRoutings[] = {{"spray", Routing::spray},
                                         {"ecmp", Routing::ecmp},
                                         {"split-single-path", Routing::split_single_path},
                                         {"planned", Routing::planned}};
constexpr std::array kGpuGenerations = {
    Choice<GpuGeneration>{"pascal", GpuGeneration::pascal},
    Choice<GpuGeneration>{"volta", GpuGeneration::volta},
    Choice<GpuGeneration>{"turing", GpuGeneration::turing},
    Choice<GpuGeneration>{"ampere", GpuGeneration::ampere},
    Choice<GpuGeneration>{"hopper", GpuGeneration::hopper},
    Choice<GpuGeneration>{"blackwell", GpuGeneration::blackwell}};
constexpr Choice<GpuPath> kGpuPaths[] = {{"nvlink", GpuPath::nvlink}, {"pcie", GpuPath::pcie}};
constexpr std::array kPrecisions{
    Choice<Precision>{"fp32", Precision::fp32},  Choice<Precision>{"tf32", Precision::tf32},
    Choice<Precision>{"fp16", Precision::fp16},  Choice<Precision>{"bf16", Precision::bf16},
    Choice<Precision>{"fp8", Precision::fp8},    Choice<Precision>{"mxfp8", Precision::mxfp8},
    Choice<Precision>{"nvfp4", Precision::nvfp4}};
constexpr std::array kRecomputes{Choice<Recompute>{"none", Recompute::none},
                                 Choice<Recompute>{"selective", Recompute::selective},
                                 Choice<Recompute>{"full", Recompute::full}};
constexpr std::array kShardings{
    Choice<Sharding>{"none", Sharding::none}, Choice<Sharding>{"zero1", Sharding::zero1},
    Choice<Sharding>{"zero2", Sharding::zero2}, Choice<Sharding>{"zero3", Sharding::zero3}};
constexpr Choice<GradientOverlap> kOverlaps[] = {
    {"none", GradientOverlap::none},         {"wfbp", GradientOverlap::wfbp},
    {"bucketed", GradientOverlap::bucketed}, {"blocking", GradientOverlap::blocking},
    {"mg-wfbp", GradientOverlap::mg_wfbp},   {"asc", GradientOverlap::asc},
    {"priority", GradientOverlap::priority}, {"dear", GradientOverlap::dear}};
constexpr Choice<Aggregation> kAggregations[] = {
    {"all-reduce", Aggregation::all_reduce}, {"parameter-server", Aggregation::parameter_server}};
constexpr Choice<ErrorFeedback> kErrorFeedbacks[] = {{"none", ErrorFeedback::none},
                                                     {"ef", ErrorFeedback::ef},
                                                     {"ef21", ErrorFeedback::ef21},
                                                     {"econtrol", ErrorFeedback::econtrol}};
constexpr std::array kFidelities{Choice<Fidelity>{"auto", Fidelity::automatic},
                                 Choice<Fidelity>{"closed", Fidelity::closed},
                                 Choice<Fidelity>{"flows", Fidelity::flows}};
constexpr Choice<CollectiveKind> kCollectiveKinds[] = {
    {"all_reduce", CollectiveKind::all_reduce},
    {"reduce_scatter", CollectiveKind::reduce_scatter},
    {"all_gather", CollectiveKind::all_gather},
    {"all_to_all", CollectiveKind::all_to_all}};
constexpr Choice<Protocol> kProtocols[] = {{"auto", Protocol::automatic},
                                           {"ll", Protocol::ll},
                                           {"ll128", Protocol::ll128},
                                           {"simple", Protocol::simple}};
constexpr Choice<Sends> kSends[] = {{"asynchronous", Sends::asynchronous},
                                    {"blocking", Sends::blocking},
                                    {"synchronous", Sends::synchronous}};
constexpr std::array kFoldModes{Choice<FoldMode>{"auto", FoldMode::automatic},
                                Choice<FoldMode>{"none", FoldMode::none}};
constexpr Choice<SnapshotPlace> kPlaces[] = {{"host-memory", SnapshotPlace::host_memory},
                                             {"peers", SnapshotPlace::peers},
                                             {"local-disk", SnapshotPlace::local_disk},
                                             {"storage", SnapshotPlace::storage},
                                             {"replicas", SnapshotPlace::replicas}};
constexpr Choice<SnapshotMode> kModes[] = {
    {"sync", SnapshotMode::sync}, {"async", SnapshotMode::async}, {"lazy", SnapshotMode::lazy}};
constexpr Choice<CodeName> kCodes[] = {{"copies", CodeName::copies},
                                       {"xor", CodeName::xor_parity},
                                       {"rs", CodeName::reed_solomon},
                                       {"recompute", CodeName::recompute}};
constexpr Choice<FailureKind> kFailureKinds[] = {
    {"process", FailureKind::process},
    {"node", FailureKind::node},
    {"planned", FailureKind::planned},
    {"network", FailureKind::network},
    {"hang", FailureKind::hang},
    {"slow-node", FailureKind::slow_node},
    {"loss-spike", FailureKind::loss_spike},
    {"corrupt-snapshot", FailureKind::corrupt_snapshot}};
constexpr Choice<WhenNoSpare> kWhenNoSpares[] = {{"wait", WhenNoSpare::wait},
                                                 {"shrink", WhenNoSpare::shrink},
                                                 {"reroute", WhenNoSpare::reroute}};
constexpr std::array<Choice<TensorOverlap>, 8> kTensorOverlaps = {
    {{"none", TensorOverlap::none},
     {"pipelined", TensorOverlap::pipelined},
     {"domino", TensorOverlap::domino},
     {"sub-pipelined", TensorOverlap::sub_pipelined},
     {"fused", TensorOverlap::fused},
     {"ladder", TensorOverlap::ladder},
     {"true", TensorOverlap::pipelined},
     {"false", TensorOverlap::none}}};
constexpr std::array<Choice<TensorForm>, 2> kTensorForms = {
    {{"1d", TensorForm::one_d}, {"2d", TensorForm::two_d}}};
constexpr std::array kFusions{Choice<Fusion>{"none", Fusion::none},
                              Choice<Fusion>{"partial", Fusion::partial}};
constexpr std::array kOptimizers{Choice<Optimizer>{"adam", Optimizer::adam},
                                 Choice<Optimizer>{"momentum", Optimizer::momentum},
                                 Choice<Optimizer>{"sgd", Optimizer::sgd}};
constexpr std::array kGradientTypes{Choice<double>{"fp32", 4}, Choice<double>{"bf16", 2}};

void check_experts(const MixtureOfExperts& moe, int layers) {
  if (moe.per_token < 1 || moe.per_token > moe.experts) {
    throw Error(fmt::format("model.moe.per_token {} is not from 1 to the {} experts", moe.per_token,
                            moe.experts));
  }
  if (moe.ffn_hidden < 1) throw Error("model.moe has no 'ffn', the width of one expert");
  if (moe.dense_layers > layers) {
    throw Error(fmt::format("model.moe.dense_layers {} is more than the {} layers",
                            moe.dense_layers, layers));
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
std::span<const ModelFlag> model_flags() {
  return kModelFlags;
}
std::span<const Choice<Activation>> activations() {
  return kActivations;
}
std::span<const Choice<Normalisation>> normalisations() {
  return kNormalisations;
}
std::span<const Choice<PositionEncoding>> positions() {
  return kPositions;
}
std::span<const Choice<AttentionKernel>> attention_kernels() {
  return kAttentions;
}
std::span<const Choice<Topology>> topologies() {
  return kTopologies;
}
std::span<const Choice<Transport>> transports() {
  return kTransports;
}
std::span<const Choice<Routing>> routings() {
  return kRoutings;
}
std::span<const Choice<GpuGeneration>> gpu_generations() {
  return kGpuGenerations;
}
std::span<const Choice<GpuPath>> gpu_paths() {
  return kGpuPaths;
}
std::span<const Choice<Precision>> precisions() {
  return kPrecisions;
}
std::span<const Choice<Recompute>> recomputes() {
  return kRecomputes;
}
std::span<const Choice<Sharding>> shardings() {
  return kShardings;
}
std::span<const Choice<GradientOverlap>> overlaps() {
  return kOverlaps;
}
std::span<const Choice<Aggregation>> aggregations() {
  return kAggregations;
}
std::span<const Choice<Fidelity>> fidelities() {
  return kFidelities;
}
std::span<const Choice<ErrorFeedback>> error_feedbacks() {
  return kErrorFeedbacks;
}
std::span<const Choice<Sends>> sends() {
  return kSends;
}
std::span<const Choice<CollectiveKind>> collective_kinds() {
  return kCollectiveKinds;
}
std::span<const Choice<Protocol>> protocols() {
  return kProtocols;
}
std::span<const Choice<FoldMode>> fold_modes() {
  return kFoldModes;
}
std::span<const Choice<SnapshotPlace>> snapshot_places() {
  return kPlaces;
}
std::span<const Choice<SnapshotMode>> snapshot_modes() {
  return kModes;
}
std::span<const Choice<CodeName>> code_names() {
  return kCodes;
}
std::span<const Choice<FailureKind>> failure_kinds() {
  return kFailureKinds;
}
std::span<const Choice<WhenNoSpare>> when_no_spares() {
  return kWhenNoSpares;
}
std::span<const Choice<Fusion>> fusions() {
  return kFusions;
}
std::span<const Choice<Optimizer>> optimizers() {
  return kOptimizers;
}
std::span<const Choice<TensorOverlap>> tensor_overlaps() {
  return kTensorOverlaps;
}
std::span<const Choice<TensorForm>> tensor_forms() {
  return kTensorForms;
}
std::span<const Choice<double>> gradient_types() {
  return kGradientTypes;
}

void check_model(const TransformerSpec& model) {
  if (model.moe.experts > 0) check_experts(model.moe, model.layers);
  const LatentAttention& latent = model.latent;
  if (latent.kv_rank > 0 && latent.value_width < 1) {
    throw Error("model.latent has no 'value_width', the width of a head's values");
  }
  if (latent.kv_rank == 0 && latent.rotary_width > 0) {
    throw Error("model.latent has no 'kv_rank', the width of the compressed keys and values");
  }
}

}  // namespace windtunnel
