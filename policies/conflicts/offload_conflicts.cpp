// Conflicts of state outside the GPUs' memory (offload).
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kOffloadRows[] = {
    {kOffloadChunks, kCrossing,
     ": chunks (offload.placement) give the place of weights to their gradients, which "
     "communication.overlap: dear and priority hold until the next step's forward pass needs the "
     "weights",
     "take communication.overlap: bucketed or none"},
    {kOffloadChunks, kLayerTable, ": chunks (offload.placement) hold the weights of a transformer",
     "take offload.placement: shares"},
    {kOffloadChunks, kStages,
     ": chunks (offload.placement) leave a step one micro-batch, with which the ranks of a "
     "pipeline work one after another",
     "take layout.pp: 1"},
    {kOffloadChunks, kExpertsApart,
     ": chunks (offload.placement) hold weights that the same ranks share, and layout.ep: {ep} has "
     "experts shared by fewer",
     "take layout.ep: 1, or offload.placement: shares"},
    {kOffloadChunks, kNotMixed,
     ": chunks (offload.placement) hold 16-bit weights, whose place their gradients take",
     "take precision: bf16"},
    {kOffloadChunks, kTrainedParts,
     ": chunks (offload.placement) are of a model that is trained as a whole", "leave train out"},
    {kOffloadChunks, kLengths,
     ": chunks (offload.placement) are not planned for unequal lengths (batch.lengths)", ""},
    {kOffloadChunks, kSequenceSlices,
     ": chunks (offload.placement) give the place of weights to their gradients, which the next "
     "slice's backward pass would need",
     "leave schedule.slices out"},
    {kOffloadChunks, kAccumulation,
     ": chunks (offload.placement) give the place of weights to their gradients, which the next "
     "micro-batch would need",
     "take batch.micro x layout.dp = batch.global"},
    {kOffload, kZerothOrder,
     ": a step without a backward pass (train.method: zeroth-order) has only weights to move, "
     "which is not modelled",
     ""},
    {kActivationsMove, kTower,
     ": what the layers of model.tower keep would stay, which is not modelled", "leave it out"},
    {kWeightsAway, kTower, ": weights of model.tower are not moved, which is not modelled",
     "leave it out"},
    {kWeightsAway, kFrozenParts, ": weights that are partly frozen (train) come layer by layer",
     "take layout.sharding: zero3, or leave offload.weights out"},
    {kPassesAway, kOptimizerStays,
     ": gradients and weights lie beside the GPU only with the optimizer that needs them there",
     "set offload.optimizer: host or disk"},
    {kOptimizerAway, kMuon,
     ": software.optimizer: muon multiplies whole matrices, which the host's cores are not "
     "modelled to do",
     "leave offload.optimizer out"},
    {kOptimizerAway, kCrossingShards,
     ": a shard that the host updates would be gathered behind that update, in the next step, "
     "which is not modelled",
     "take communication.overlap: bucketed or none"},
    {kGradientsInChunks, kSummedOnce,
     ": gradients that are summed once per step stay on the GPU until then",
     "take layout.sharding: zero3, or offload.placement: shares"},
    {kGradientsAway, kSummedOnce,
     ": gradients that are summed once per step stay on the GPU until then",
     "take layout.sharding: zero2 or zero3, or leave offload.gradients out"},
    {kWeightsAway, kWholeWeights, ": weights beside the GPU are gathered layer by layer",
     "take layout.sharding: zero3"},
    {kActivationsUnfound, kLayerTable,
     ": of a table of layers a search says which activations move",
     "set offload.activations: auto"},
};

}  // namespace
}  // namespace features

std::span<const Conflict> offload_conflicts() {
  return features::kOffloadRows;
}

}  // namespace windtunnel
