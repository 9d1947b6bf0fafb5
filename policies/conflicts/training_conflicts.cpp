// Conflicts of what a step trains and how (train).
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kTrainingRows[] = {
    {kTrainedParts, kPredictors, ": of model.mtp_layers it is not said which parts are trained",
     "set model.mtp_layers to 0"},
    {kAdapter, kTwoStacks,
     ": which of the matrices between encoder and decoder have adapters is not modelled", ""},
    {kContrastive, kTwoStacks, ": a contrastive loss is of one stack's sequences", ""},
    {kContrastive, kTower,
     ": a contrastive loss compares sequences of one model, and model.tower makes places of a "
     "decoder's",
     "set model.tower.sources to 0"},
    {kTraining, kLengths, ": is not modelled together with batch.lengths", "leave one of them out"},
    {kContrastive, kRollout,
     ": a contrastive loss learns from pairs that are there, and engines write samples", ""},
    {kTraining, kVolunteers, ": is not modelled together with volunteers", "leave one of them out"},
    {kOneByteSteps, kLengths, ": one-byte beside batch.lengths is not modelled",
     "leave one of them out"},
    {kOneByteSteps, kVolunteers, ": one-byte beside volunteers is not modelled",
     "leave one of them out"},
    {kLoss, kLayerTable, ": a table of layers ends in its own layers", ""},
    {kContrastive, kZerothOrder, ": contrastive beside zeroth-order steps is not modelled", ""},
    {kContrastive, kUntied, ": a contrastive loss has no matrix of the vocabulary",
     "set model.tied_embeddings: true"},
    {kContrastive, kDividedReplicas,
     ": a contrastive loss needs the embeddings of all replicas before any backward pass, which "
     "is modelled for whole replicas only",
     "set layout.tp, cp and pp to 1"},
    {kContrastive, kSequenceSlices, ": slices of a sequence have no embedding each", ""},
};

constexpr Conflict kZerothOrderRows[] = {
    {kShardedState, kZerothOrder,
     ": train.method: zeroth-order has no gradients and no optimizer state to shard",
     "take none, or zero3, which divides weights"},
    {kServed, kZerothOrder, ": train.method: zeroth-order has no gradients that servers could sum",
     ""},
    {kRobust, kZerothOrder, ": train.method: zeroth-order exchanges numbers, not gradients", ""},
    {kRedundancy, kZerothOrder,
     ": codes and copies are of gradients, and train.method: zeroth-order has none", ""},
    {kIslands, kZerothOrder, ": islands beside train.method: zeroth-order are not modelled", ""},
    {kCrossing, kZerothOrder,
     ": {overlap} orders gradients, and train.method: zeroth-order has none", ""},
    {kCompressorOfGradients, kZerothOrder,
     ": {compressor} is of gradients, and train.method: zeroth-order exchanges a number",
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
