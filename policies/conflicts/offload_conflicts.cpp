// Conflicts of training state that is kept outside the GPUs' memory (offload).
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kOffloadRows[] = {
    {kOffloadChunks, kCrossing,
     ": with chunks (offload.placement) gradients overwrite their weights, but "
     "communication.overlap: dear and priority keep both until the next step",
     "take communication.overlap: bucketed or none"},
    {kOffloadChunks, kLayerTable, ": chunks (offload.placement) support only transformers",
     "take offload.placement: shares"},
    {kOffloadChunks, kStages,
     ": chunks (offload.placement) allow one micro-batch per step, with which a pipeline would run "
     "its stages one after another",
     "take layout.pp: 1"},
    {kOffloadChunks, kExpertsApart,
     ": chunks (offload.placement) hold weights that are sharded over the same ranks, but "
     "layout.ep: {ep} shards experts over fewer",
     "take layout.ep: 1, or offload.placement: shares"},
    {kOffloadChunks, kNotMixed,
     ": chunks (offload.placement) need 16-bit weights, which their gradients overwrite",
     "take precision: bf16"},
    {kOffloadChunks, kTrainedParts,
     ": chunks (offload.placement) need a model whose parameters are all trained",
     "leave train out"},
    {kOffloadChunks, kLengths,
     ": chunks (offload.placement) are not modelled with unequal lengths (batch.lengths)", ""},
    {kOffloadChunks, kSequenceSlices,
     ": with chunks (offload.placement) gradients overwrite their weights, but the backward pass "
     "of the next slice needs the weights",
     "leave schedule.slices out"},
    {kOffloadChunks, kAccumulation,
     ": with chunks (offload.placement) gradients overwrite their weights, but the next "
     "micro-batch needs the weights",
     "choose batch.micro and layout.dp so that batch.micro x layout.dp = batch.global"},
    {kOffload, kZerothOrder,
     ": offload is not modelled for steps without a backward pass (train.method: zeroth-order)",
     ""},
    {kActivationsMove, kTower,
     ": activations of the layers of model.tower would stay on the GPU, which is not modelled",
     "leave it out"},
    {kWeightsAway, kTower, ": offloading the weights of model.tower is not modelled",
     "leave it out"},
    {kWeightsAway, kFrozenParts,
     ": partly frozen weights (train) can be offloaded only layer by layer",
     "take layout.sharding: zero3, or leave offload.weights out"},
    {kPassesAway, kOptimizerStays,
     ": gradients and weights are offloaded only together with the optimizer",
     "set offload.optimizer: host or disk"},
    {kOptimizerAway, kMuon,
     ": software.optimizer: muon multiplies whole matrices, which is not modelled on the cores of "
     "a host",
     "leave offload.optimizer out"},
    {kOptimizerAway, kCrossingShards,
     ": gathering a shard in the next step, after the host has updated it, is not modelled",
     "take communication.overlap: bucketed or none"},
    {kGradientsInChunks, kSummedOnce,
     ": without zero2 or zero3 gradients are summed once per step and stay on the GPU until then",
     "take layout.sharding: zero3, or offload.placement: shares"},
    {kGradientsAway, kSummedOnce,
     ": without zero2 or zero3 gradients are summed once per step and stay on the GPU until then",
     "take layout.sharding: zero2 or zero3, or leave offload.gradients out"},
    {kWeightsAway, kWholeWeights,
     ": offloaded weights are gathered layer by layer, as only zero3 does",
     "take layout.sharding: zero3"},
    {kActivationsUnfound, kLayerTable,
     ": for a table of layers only a search can choose which activations move",
     "set offload.activations: auto"},
};

}  // namespace
}  // namespace features

std::span<const Conflict> offload_conflicts() {
  return features::kOffloadRows;
}

}  // namespace windtunnel
