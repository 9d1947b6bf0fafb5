// Conflicts of what a step trains, and how (train).
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kTrainingRows[] = {
    {kTrainedParts, kPredictors,
     ": training only parts of a model with model.mtp_layers is not modelled",
     "set model.mtp_layers to 0"},
    {kAdapter, kTwoStacks, ": adapters are not modelled for models with an encoder and a decoder",
     ""},
    {kContrastive, kTwoStacks,
     ": a contrastive loss compares outputs of a single stack of layers, and this model has an "
     "encoder and a decoder",
     ""},
    {kContrastive, kTower,
     ": a contrastive loss compares outputs of a single stack of layers, and model.tower is "
     "another",
     "set model.tower.sources to 0"},
    {kTraining, kLengths, ": is not modelled together with batch.lengths", "leave one of them out"},
    {kContrastive, kRollout,
     ": a contrastive loss learns from given pairs, but with rollout engines generate the samples",
     ""},
    {kTraining, kVolunteers, ": is not modelled together with volunteers", "leave one of them out"},
    {kOneByteSteps, kLengths, ": one-byte is not modelled with batch.lengths",
     "leave one of them out"},
    {kOneByteSteps, kVolunteers, ": one-byte is not modelled with volunteers",
     "leave one of them out"},
    {kLoss, kLayerTable, ": a table of layers contains its own loss", ""},
    {kContrastive, kZerothOrder,
     ": a contrastive loss is not modelled with train.method: zeroth-order", ""},
    {kContrastive, kUntied,
     ": with a contrastive loss the model has no output matrix for the vocabulary",
     "set model.tied_embeddings: true"},
    {kContrastive, kDividedReplicas,
     ": a contrastive loss needs the embeddings of all replicas before any backward pass, which "
     "is modelled for whole replicas only",
     "set layout.tp, cp and pp to 1"},
    {kContrastive, kSequenceSlices,
     ": a contrastive loss needs one embedding per sequence, which a slice of a sequence does not "
     "have",
     ""},
};

constexpr Conflict kZerothOrderRows[] = {
    {kShardedState, kZerothOrder,
     ": train.method: zeroth-order has no gradients and no optimizer state to shard",
     "take none, or zero3, which divides the weights"},
    {kServed, kZerothOrder, ": train.method: zeroth-order has no gradients that servers could sum",
     ""},
    {kRobust, kZerothOrder, ": train.method: zeroth-order exchanges numbers, not gradients", ""},
    {kRedundancy, kZerothOrder,
     ": codes and copies are made of gradients, and train.method: zeroth-order has none", ""},
    {kIslands, kZerothOrder, ": islands are not modelled with train.method: zeroth-order", ""},
    {kCrossing, kZerothOrder,
     ": {overlap} schedules the exchange of gradients, and train.method: zeroth-order has none",
     ""},
    {kCompressorOfGradients, kZerothOrder,
     ": {compressor} compresses gradients, but train.method: zeroth-order exchanges only a number",
     "leave it out"},
};

}  // namespace
}  // namespace features

std::span<const Conflict> training_conflicts() {
  return features::kTrainingRows;
}

std::span<const Conflict> zeroth_order_conflicts() {
  return features::kZerothOrderRows;
}

}  // namespace windtunnel
