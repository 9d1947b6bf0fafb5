// Conflicts of models and how they are divided. These are tested before the layout is known to be
// valid.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr std::string_view kDataParallelOnly =
    "is {size}, but model '{model}' is a table of layers, which runs data parallel only";
constexpr std::string_view kForeignAttention =
    "{context} does not go with the attention of model '{model}'";
constexpr std::string_view kStepsMeet =
    ": a step's programs are dispatched behind the step before, but here steps run into each other";

constexpr Conflict kLayoutRows[] = {
    {kTensorRanks, kLayerTable, kDataParallelOnly, "set it to 1"},
    {kContextRanks, kLayerTable, kDataParallelOnly, "set it to 1"},
    {kPipeline, kLayerTable, kDataParallelOnly, "set it to 1"},
    {kChunks, kLayerTable, kDataParallelOnly, "set it to 1"},
    {kExpertRanks, kLayerTable, kDataParallelOnly, "set it to 1"},
    {kRecomputedModules, kLayerTable,
     ": model '{model}' is a table of layers, and a search chooses which of them are computed "
     "again",
     "set recompute: auto, or none"},
    {kMuon, kLayerTable,
     ": muon updates the matrices of a transformer, and model '{model}' is a table of layers",
     "take momentum"},
    {kAdapter, kLayerTable,
     ": a table of layers has no products of a transformer to put one beside", ""},
    {kBidirectional, kLinearAttention, ": linear attention is causal", "take flash or unfused"},
    {kFrames, kLinearAttention, ": linear attention has no length to divide",
     "take flash or unfused"},
    {kFormOfSoftmax, kLinearAttention, kForeignAttention, "linear attention takes lasp or ulysses"},
    {kLasp, kSoftmaxAttention, kForeignAttention,
     "it passes on the state of a linear attention: model.attention: linear"},
    {kRsa, kFlashAttention, kForeignAttention, "it keeps the scores: model.attention: unfused"},
    {kFormBesideScans, kScans,
     "{context}: Mamba layers exchange whole heads among cp ranks (Megatron-LM), beside attention "
     "on a ring or by ulysses",
     "take ring or ulysses"},
    {kContextRanks, kChosenKeys,
     "{size}: a query of model '{model}' chooses among the keys of the whole sequence, which no "
     "form of cp here brings to every rank",
     "set it to 1"},
    {kChosenKeys, kNoCausalFlash, ": an indexer chooses among keys that a causal mask leaves",
     "take model.attention: flash without frames"},
    {kMesh, kChosenKeys,
     "2d leaves a rank a part of the width of each token, and the indexer of model '{model}' "
     "scores whole ones",
     "take 1d"},
    {kTwoStacks, kSpecialAttention,
     ": attention to a source is flash or unfused, without windows, frames, latents and gates",
     "leave them out"},
    {kTwoStacks, kBidirectional, ": the encoder has no mask, and the decoder needs one",
     "leave model.bidirectional out"},
    {kTwoStacks, kPredictors, ": model.mtp_layers are modules behind the layers of one stack",
     "set model.mtp_layers to 0"},
    {kTwoStacks, kProjectedKeys, ": a decoder's mask goes by keys, which projected ones mix",
     "leave model.projected_keys out"},
    {kProjectedKeys, kSpecialAttention,
     ": goes with flash and unfused attention without windows, frames, latents and gates",
     "leave them out"},
    {kProjectedKeys, kCausal,
     ": mixes the keys of all tokens, so that no mask can hide those that come later",
     "set model.bidirectional: true"},
    {kContextRanks, kTwoStacks,
     "{size}: ranks would divide the source and what the decoder of model '{model}' writes, each "
     "by itself, which is not modelled",
     "set it to 1"},
    {kContextRanks, kTower,
     "{size}: ranks would divide images and the decoder's sequence, each by itself, which is not "
     "modelled",
     "set it to 1"},
    {kMesh, kTower, "2d is not modelled with layers before the decoder (model.tower)", "take 1d"},
    {kPipeline, kTwoStacks,
     "{size}: stages of the decoder would send on what the encoder of model '{model}' made, beside "
     "their own rows, which is not modelled",
     "set it to 1, and divide the model by layout.tp or layout.sharding"},
    {kFormBesideProjection, kProjectedKeys,
     "{context}: each rank projects the keys of its own part of a sequence, and a ring adds them "
     "up",
     "take ring or rsa"},
    {kMesh, kProjectedKeys,
     "2d leaves a rank a part of the rows, and the projection of model '{model}' runs along them",
     "take 1d"},
    {kMesh, kPredictors, "2d is not modelled with modules that predict further tokens", "take 1d"},
    {kMesh, kLayerPattern,
     "2d divides layers of attention and an MLP, and model '{model}' has a pattern", "take 1d"},
    {kMesh, kExperts,
     "2d leaves a rank a part of the width of each token, and the router of model '{model}' sends "
     "whole tokens to whole experts",
     "take 1d"},
    {kHalfLayers, kLayerPattern,
     ": hides collectives of one half of a layer behind the other, and layers of model '{model}' "
     "have one",
     "take pipelined or none"},
    {kTensorOverlap, kMesh, ": with layout.tp_form 2d every GEMM waits for its blocks",
     "take none"},
    {kBoundaryRank, kCompressedMessages,
     " and compress with axis: pp both say how activations cross a pipeline cut",
     "leave one of them out"},
    {kBoundaryRank, kOnePipelineRank, ": layout.pp is 1, so that no activations are sent on",
     "leave it out"},
    {kBoundaryRank, kMesh, ": with layout.tp_form 2d no rank has whole rows to multiply",
     "take layout.tp_form: 1d"},
    {kDispatch, kLateGradients, kStepsMeet, "set communication.overlap: bucketed"},
    {kDispatch, kPostValidation, kStepsMeet, "set software.post_validation: false"},
    {kDispatch, kAsynchronous, kStepsMeet, "set schedule: 1f1b"},
    {kGangs, kPools,
     ": replicas on cluster.pools do not start passes together, because each has a pace of its own",
     "take software.dispatch.gang: none"},
};

constexpr std::string_view kUnequalEnds =
    ": replicas with unlike numbers of micro-batches meet at the end of every iteration, which "
    "steps without a flush do without";

constexpr Conflict kShareRows[] = {
    {kUnevenBatch, kLateGradients, kUnequalEnds, "take batch.shares: even"},
    {kUnevenBatch, kPostValidation, kUnequalEnds, "take batch.shares: even"},
};

}  // namespace
}  // namespace features

std::span<const Conflict> layout_conflicts() {
  return features::kLayoutRows;
}

std::span<const Conflict> share_conflicts() {
  return features::kShareRows;
}

}  // namespace windtunnel
