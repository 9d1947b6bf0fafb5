// Conflicts of models and of how they are divided. They are tested before the layout is known to be
// valid.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr std::string_view kDataParallelOnly =
    "is {size}, but model '{model}' is a table of layers, which supports only data parallelism";
constexpr std::string_view kForeignAttention =
    "{context} does not support the attention of model '{model}'";
constexpr std::string_view kStepsMeet =
    ": programs are dispatched step by step, one step after the other, but here consecutive steps "
    "overlap";

constexpr Conflict kLayoutRows[] = {
    {kTensorRanks, kLayerTable, kDataParallelOnly, "set it to 1"},
    {kContextRanks, kLayerTable, kDataParallelOnly, "set it to 1"},
    {kPipeline, kLayerTable, kDataParallelOnly, "set it to 1"},
    {kChunks, kLayerTable, kDataParallelOnly, "set it to 1"},
    {kExpertRanks, kLayerTable, kDataParallelOnly, "set it to 1"},
    {kRecomputedModules, kLayerTable,
     ": model '{model}' is a table of layers, for which only a search can choose the layers to "
     "recompute",
     "set recompute: auto, or none"},
    {kMuon, kLayerTable,
     ": muon updates the matrices of a transformer, but model '{model}' is a table of layers",
     "take momentum"},
    {kMuon, kTrainedTower,
     ": muon updates the matrices of the decoder, and how it updates those of model.tower is not "
     "modelled",
     "take adam, or set train.frozen: [tower, projector]"},
    {kAdapter, kLayerTable,
     ": adapters belong to matrices of a transformer, and the model is a table of layers", ""},
    {kBidirectional, kLinearAttention, ": linear attention is causal", "take flash or unfused"},
    {kFrames, kLinearAttention,
     ": frames divide the sequence of softmax attention, not of linear attention",
     "take flash or unfused"},
    {kFormOfSoftmax, kLinearAttention, kForeignAttention, "linear attention takes lasp or ulysses"},
    {kLasp, kSoftmaxAttention, kForeignAttention,
     "lasp passes on the state of linear attention; set model.attention: linear"},
    {kRsa, kFlashAttention, kForeignAttention,
     "rsa keeps the scores in memory; set model.attention: unfused"},
    {kFormBesideScans, kScans,
     "{context}: Mamba layers exchange whole heads among cp ranks (Megatron-LM), so attention "
     "layers of the same model must use ring or ulysses",
     "take ring or ulysses"},
    {kContextRanks, kChosenKeys,
     "{size}: a query of model '{model}' chooses among the keys of the whole sequence, and no form "
     "of cp here gathers all keys on every rank",
     "set it to 1"},
    {kChosenKeys, kNoCausalFlash,
     ": an indexer chooses among the keys that a causal mask leaves visible",
     "take model.attention: flash without frames"},
    {kMesh, kChosenKeys,
     "2d gives a rank only a part of the width of each token, but the indexer of model '{model}' "
     "scores whole tokens",
     "take 1d"},
    {kTwoStacks, kSpecialAttention,
     ": a model with a source sequence needs flash or unfused attention without windows, frames, "
     "latents and gates",
     "leave them out"},
    {kTwoStacks, kBidirectional, ": the encoder has no mask, and the decoder needs one",
     "leave model.bidirectional out"},
    {kTwoStacks, kPredictors,
     ": model.mtp_layers follow a single stack of layers, and this model has an encoder and a "
     "decoder",
     "set model.mtp_layers to 0"},
    {kTwoStacks, kProjectedKeys, ": a decoder masks single keys, and projection mixes the keys",
     "leave model.projected_keys out"},
    {kProjectedKeys, kSpecialAttention,
     ": needs flash or unfused attention without windows, frames, latents and gates",
     "leave them out"},
    {kProjectedKeys, kCausal,
     ": mixes the keys of all tokens, so a causal mask cannot hide later tokens",
     "set model.bidirectional: true"},
    {kContextRanks, kTwoStacks,
     "{size}: dividing the sequences of both encoder and decoder of model '{model}' among ranks is "
     "not modelled",
     "set it to 1"},
    {kContextRanks, kTower,
     "{size}: ranks would divide images and the decoder's sequence, each by itself, which is not "
     "modelled",
     "set it to 1"},
    {kMesh, kTower, "2d is not modelled with layers before the decoder (model.tower)", "take 1d"},
    {kPipeline, kTwoStacks,
     "{size}: a pipeline whose decoder stages pass on the output of the encoder of model '{model}' "
     "is not modelled",
     "set it to 1, and divide the model by layout.tp or layout.sharding"},
    {kFormBesideProjection, kProjectedKeys,
     "{context}: each rank projects the keys of its own part of a sequence, and only a ring adds "
     "these up",
     "take ring or rsa"},
    {kMesh, kProjectedKeys,
     "2d gives a rank only a part of the rows, but the key projection of model '{model}' needs all "
     "rows",
     "take 1d"},
    {kMesh, kPredictors, "2d is not modelled with multi-token prediction (model.mtp_layers)",
     "take 1d"},
    {kMesh, kLayerPattern,
     "2d divides layers of attention and an MLP, but model '{model}' has a pattern", "take 1d"},
    {kMesh, kExperts,
     "2d gives a rank only a part of the width of each token, but the router of model '{model}' "
     "sends whole tokens to experts",
     "take 1d"},
    {kHalfLayers, kLayerPattern,
     ": hides the collectives of one half of a layer behind the other half, but layers of model "
     "'{model}' are not made of two halves",
     "take pipelined or none"},
    {kTensorOverlap, kMesh, ": with layout.tp_form 2d every GEMM waits for its blocks",
     "take none"},
    {kBoundaryRank, kCompressedMessages,
     "and compress with axis: pp both state how activations are sent between stages",
     "leave one of them out"},
    {kBoundaryRank, kOnePipelineRank, ": layout.pp is 1, so no activations are sent between stages",
     "leave it out"},
    {kBoundaryRank, kMesh, ": with layout.tp_form 2d no rank has whole rows to multiply",
     "take layout.tp_form: 1d"},
    {kDispatch, kLateGradients, kStepsMeet, "set communication.overlap: bucketed"},
    {kDispatch, kPostValidation, kStepsMeet, "set software.post_validation: false"},
    {kDispatch, kAsynchronous, kStepsMeet, "set schedule: 1f1b"},
    {kGangs, kPools,
     ": replicas on cluster.pools do not start their passes together, because they differ in speed",
     "take software.dispatch.gang: none"},
};

constexpr std::string_view kUnequalEnds =
    ": replicas with different numbers of micro-batches must wait for each other at the end of "
    "every iteration, but here steps end without a flush";

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
