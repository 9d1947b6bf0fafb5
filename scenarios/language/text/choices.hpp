// The names of enumerators in scenarios and the library: the one list for parser, schema, messages
// and output. If messages of the models also use the names, the list is next to the enumeration
// (models/base/choice.hpp).
#pragma once

#include "models/base/choice.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

template <>
inline constexpr Choice<Activation> kChoices<Activation>[] = {{"gelu", Activation::gelu},
                                                              {"swiglu", Activation::swiglu}};
template <>
inline constexpr Choice<Normalisation> kChoices<Normalisation>[] = {
    {"layer-norm", Normalisation::layer_norm}, {"rms-norm", Normalisation::rms_norm}};
template <>
inline constexpr Choice<PositionEncoding> kChoices<PositionEncoding>[] = {
    {"learned", PositionEncoding::learned},
    {"rotary", PositionEncoding::rotary},
    {"alibi", PositionEncoding::alibi},
    {"none", PositionEncoding::none}};
template <>
inline constexpr Choice<AttentionKernel> kChoices<AttentionKernel>[] = {
    {"flash", AttentionKernel::flash},
    {"unfused", AttentionKernel::unfused},
    {"linear", AttentionKernel::linear}};
template <>
inline constexpr Choice<ScanKind> kChoices<ScanKind>[] = {{"mamba2", ScanKind::mamba2},
                                                          {"gated-delta", ScanKind::gated_delta},
                                                          {"kimi-delta", ScanKind::kimi_delta},
                                                          {"lightning", ScanKind::lightning}};
template <>
inline constexpr Choice<Topology> kChoices<Topology>[] = {
    {"rail-fat-tree", Topology::rail_fat_tree},
    {"fat-tree", Topology::fat_tree},
    {"rail-only", Topology::rail_only},
    {"clos", Topology::clos},
    {"torus", Topology::torus},
    {"dragonfly", Topology::dragonfly},
    {"sites", Topology::sites},
    {"graph", Topology::graph}};
template <>
inline constexpr Choice<Transport> kChoices<Transport>[] = {{"infiniband", Transport::infiniband},
                                                            {"roce", Transport::roce},
                                                            {"slingshot", Transport::slingshot},
                                                            {"efa", Transport::efa},
                                                            {"tcpx", Transport::tcpx},
                                                            {"tcpxo", Transport::tcpxo},
                                                            {"tcp", Transport::tcp},
                                                            {"ici", Transport::ici}};
template <>
inline constexpr Choice<Routing> kChoices<Routing>[] = {
    {"spray", Routing::spray},
    {"adaptive", Routing::adaptive},
    {"ecmp", Routing::ecmp},
    {"split-single-path", Routing::split_single_path},
    {"planned", Routing::planned}};
template <>
inline constexpr Choice<GpuGeneration> kChoices<GpuGeneration>[] = {
    {"pascal", GpuGeneration::pascal}, {"volta", GpuGeneration::volta},
    {"turing", GpuGeneration::turing}, {"ampere", GpuGeneration::ampere},
    {"hopper", GpuGeneration::hopper}, {"blackwell", GpuGeneration::blackwell}};
template <>
inline constexpr Choice<GpuPath> kChoices<GpuPath>[] = {{"nvlink", GpuPath::nvlink},
                                                        {"pcie", GpuPath::pcie}};
template <>
inline constexpr Choice<Aggregation> kChoices<Aggregation>[] = {
    {"all-reduce", Aggregation::all_reduce}, {"parameter-server", Aggregation::parameter_server}};
template <>
inline constexpr Choice<Fidelity> kChoices<Fidelity>[] = {
    {"auto", Fidelity::automatic}, {"closed", Fidelity::closed}, {"flows", Fidelity::flows}};
template <>
inline constexpr Choice<CompressedHop> kChoices<CompressedHop>[] = {
    {"auto", CompressedHop::automatic},
    {"all", CompressedHop::all},
    {"across", CompressedHop::across}};
template <>
inline constexpr Choice<CompressedPasses> kChoices<CompressedPasses>[] = {
    {"all", CompressedPasses::all}, {"dispatch", CompressedPasses::dispatch}};
template <>
inline constexpr Choice<InnerForm> kChoices<InnerForm>[] = {
    {"auto", InnerForm::automatic}, {"folded", InnerForm::folded}, {"tasks", InnerForm::tasks}};
template <>
inline constexpr Choice<ErrorFeedback> kChoices<ErrorFeedback>[] = {
    {"none", ErrorFeedback::none},
    {"ef", ErrorFeedback::ef},
    {"ef21", ErrorFeedback::ef21},
    {"econtrol", ErrorFeedback::econtrol}};
template <>
inline constexpr Choice<Sends> kChoices<Sends>[] = {{"asynchronous", Sends::asynchronous},
                                                    {"blocking", Sends::blocking},
                                                    {"synchronous", Sends::synchronous}};
template <>
inline constexpr Choice<CollectiveKind> kChoices<CollectiveKind>[] = {
    {"all_reduce", CollectiveKind::all_reduce},
    {"reduce_scatter", CollectiveKind::reduce_scatter},
    {"all_gather", CollectiveKind::all_gather},
    {"all_to_all", CollectiveKind::all_to_all}};
template <>
inline constexpr Choice<Protocol> kChoices<Protocol>[] = {{"auto", Protocol::automatic},
                                                          {"ll", Protocol::ll},
                                                          {"ll128", Protocol::ll128},
                                                          {"simple", Protocol::simple}};
template <>
inline constexpr Choice<FoldMode> kChoices<FoldMode>[] = {
    {"auto", FoldMode::automatic}, {"exact", FoldMode::exact}, {"none", FoldMode::none}};
template <>
inline constexpr Choice<SnapshotMode> kChoices<SnapshotMode>[] = {
    {"sync", SnapshotMode::sync}, {"async", SnapshotMode::async}, {"lazy", SnapshotMode::lazy}};
template <>
inline constexpr Choice<CodeName> kChoices<CodeName>[] = {{"copies", CodeName::copies},
                                                          {"xor", CodeName::xor_parity},
                                                          {"rs", CodeName::reed_solomon},
                                                          {"recompute", CodeName::recompute}};
template <>
inline constexpr Choice<FailureKind> kChoices<FailureKind>[] = {
    {"process", FailureKind::process},
    {"node", FailureKind::node},
    {"planned", FailureKind::planned},
    {"network", FailureKind::network},
    {"hang", FailureKind::hang},
    {"slow-node", FailureKind::slow_node},
    {"loss-spike", FailureKind::loss_spike},
    {"corrupt-snapshot", FailureKind::corrupt_snapshot}};
template <>
inline constexpr Choice<WhenNoSpare> kChoices<WhenNoSpare>[] = {
    {"wait", WhenNoSpare::wait},
    {"shrink", WhenNoSpare::shrink},
    {"reroute", WhenNoSpare::reroute},
    {"relayout", WhenNoSpare::relayout}};
template <>
inline constexpr Choice<PeerStream> kChoices<PeerStream>[] = {{"state", PeerStream::state},
                                                              {"weights", PeerStream::weights}};
template <>
inline constexpr Choice<Fusion> kChoices<Fusion>[] = {
    {"none", Fusion::none}, {"partial", Fusion::partial}, {"compiled", Fusion::compiled}};
template <>
inline constexpr Choice<SnapshotWeights> kChoices<SnapshotWeights>[] = {
    {"all", SnapshotWeights::all},
    {"fp32-shards", SnapshotWeights::fp32_shards},
    {"16-bit", SnapshotWeights::compute}};
template <>
inline constexpr Choice<Optimizer> kChoices<Optimizer>[] = {{"adam", Optimizer::adam},
                                                            {"momentum", Optimizer::momentum},
                                                            {"sgd", Optimizer::sgd},
                                                            {"muon", Optimizer::muon}};
template <>
inline constexpr Choice<TensorOverlap> kChoices<TensorOverlap>[] = {
    {"none", TensorOverlap::none},     {"pipelined", TensorOverlap::pipelined},
    {"domino", TensorOverlap::domino}, {"sub-pipelined", TensorOverlap::sub_pipelined},
    {"fused", TensorOverlap::fused},   {"ladder", TensorOverlap::ladder},
    {"kraken", TensorOverlap::kraken}, {"true", TensorOverlap::pipelined},
    {"false", TensorOverlap::none}};
template <>
inline constexpr Choice<PopularityOrder> kChoices<PopularityOrder>[] = {
    {"one", PopularityOrder::one}, {"by-layer", PopularityOrder::by_layer}};
template <>
inline constexpr Choice<DispatchMode> kChoices<DispatchMode>[] = {
    {"asynchronous", DispatchMode::asynchronous}, {"synchronous", DispatchMode::synchronous}};
template <>
inline constexpr Choice<DispatchProgram> kChoices<DispatchProgram>[] = {
    {"step", DispatchProgram::step}, {"pass", DispatchProgram::pass}};
template <>
inline constexpr Choice<DispatchGang> kChoices<DispatchGang>[] = {
    {"none", DispatchGang::none}, {"island", DispatchGang::island}, {"all", DispatchGang::all}};
template <>
inline constexpr Choice<TensorForm> kChoices<TensorForm>[] = {{"1d", TensorForm::one_d},
                                                              {"2d", TensorForm::two_d}};
// The value is bytes per element of a gradient.
template <>
inline constexpr Choice<double> kChoices<double>[] = {
    {"none", 0}, {"fp32", 4}, {"bf16", 2}, {"fp8", 1}, {"fp4", 0.5}};
template <>
inline constexpr Choice<ExpertTokens> kChoices<ExpertTokens>[] = {
    {"divided", ExpertTokens::divided},
    {"all", ExpertTokens::all},
    {"dropped", ExpertTokens::dropped},
    {"gathered", ExpertTokens::gathered}};
template <>
inline constexpr Choice<EmbeddingExchange> kChoices<EmbeddingExchange>[] = {
    {"dense", EmbeddingExchange::dense},
    {"all-gather", EmbeddingExchange::all_gather},
    {"all-to-all", EmbeddingExchange::all_to_all}};
template <>
inline constexpr Choice<OuterOptimizer> kChoices<OuterOptimizer>[] = {
    {"average", OuterOptimizer::average}, {"nesterov", OuterOptimizer::nesterov}};
template <>
inline constexpr Choice<SyncStart> kChoices<SyncStart>[] = {{"step", SyncStart::step},
                                                            {"layers", SyncStart::layers}};
template <>
inline constexpr Choice<SyncPattern> kChoices<SyncPattern>[] = {
    {"all-reduce", SyncPattern::all_reduce},
    {"leader", SyncPattern::leader},
    {"gossip", SyncPattern::gossip},
    {"none", SyncPattern::none}};
template <>
inline constexpr Choice<SyncGraph> kChoices<SyncGraph>[] = {{"ring", SyncGraph::ring},
                                                            {"exponential", SyncGraph::exponential},
                                                            {"random", SyncGraph::random}};
template <>
inline constexpr Choice<SyncEvents> kChoices<SyncEvents>[] = {{"scheduled", SyncEvents::scheduled},
                                                              {"poisson", SyncEvents::poisson}};
template <>
inline constexpr Choice<SyncParameters> kChoices<SyncParameters>[] = {
    {"all", SyncParameters::all}, {"dense", SyncParameters::dense}};
template <>
inline constexpr Choice<LengthPolicy> kChoices<LengthPolicy>[] = {
    {"fixed", LengthPolicy::fixed}, {"flexsp", LengthPolicy::flexsp}, {"hdp", LengthPolicy::hdp}};

}  // namespace windtunnel
