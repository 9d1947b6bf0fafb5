// Ways of exchanging gradients: overlap, compressor, aggregation, sharding.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kExchangeRows[] = {
    {kDear, kServed,
     ": dear splits an all-reduce into its halves, and communication.aggregation: "
     "parameter-server has none",
     "take communication.aggregation: all-reduce"},
    {kBeyondBuckets, kZero3,
     "does not go with layout.sharding: {sharding}: FSDP's units are the layers",
     "take none or bucketed"},
    {kEmbeddingRows, kLayerTable, ": model '{model}' has none", "leave it at dense"},
    {kEmbeddingRows, kTied,
     ": with model.tied_embeddings the loss head fills all rows of the gradient",
     "leave it at dense"},
    {kRobust, kFewReplicas, "does not work here: {bears}", ""},
    {kRobust, kRedundancy, ": is not modelled beside redundancy", "leave one of them out"},
    {kRobust, kCompressed, "takes gradients as they are",
     "leave out communication.compressor and compress with axis: dp"},
    {kRobust, kServed, "needs communication.aggregation: all-reduce, because servers sum gradients",
     ""},
    {kMonna, kSharded,
     "leaves each replica with weights of its own, and layout.sharding: {sharding} divides the "
     "state of one model among them",
     "take layout.sharding: none, or another rule"},
    {kRobust, kEmbeddingRows, "takes dense gradients", "leave out communication.embeddings"},
    {kRobust, kCrossing,
     "is more than one all-reduce, which communication.overlap: {overlap} takes",
     "take communication.overlap: none or bucketed"},
    {kRobust, kExperts, "of experts is not modelled, whose copies are fewer than the replicas", ""},
    {kRobust, kContextRanks,
     "combines whole gradients of replicas, and with layout.cp each rank has a part of one",
     "take layout.cp: 1"},
    {kMoments, kNotAdam,
     ": {compressor} compresses Adam's moments, which software.optimizer has not",
     "set software.optimizer: adam, or take onebit-sgd"},
    {kWholeMomentum, kScatteredMicrobatches,
     ": {compressor} takes the gradients of a step into a momentum, and layout.sharding: "
     "{sharding} gives those of each micro-batch away",
     "take layout.sharding: zero1"},
    {kCompressed, kServed,
     ": {compressor} needs communication.aggregation: all-reduce, because servers sum dense "
     "gradients",
     ""},
    {kCompressed, kGradientBits,
     ": {compressor} is one way of exchanging gradients and layout.gradient_bits another",
     "leave out layout.gradient_bits"},
    {kCompressed, kGradientRanks,
     ": {compressor} is one way of exchanging gradients and layout.gradient_ranks another",
     "leave out layout.gradient_ranks"},
    {kHops, kExperts,
     ": {compressor} reduces inside the nodes first, and replicas of experts have no groups for "
     "that",
     ""},
    {kAcross, kCrossing,
     ": {compressor} with hop: across is a reduce-scatter, an exchange and a gather, and "
     "communication.overlap: {overlap} takes one all-reduce",
     "take communication.overlap: bucketed"},
    {kSeveralCollectives, kDear,
     ": {compressor} is more than one all-reduce, and communication.overlap: dear splits one "
     "all-reduce into its halves",
     "take communication.overlap: bucketed"},
    {kWholeTensors, kPriority,
     ": {compressor} needs whole matrices, and communication.overlap: priority cuts tensors into "
     "partitions that are reduced one by one",
     "take communication.overlap: bucketed"},
    {kSeveralCollectives, kPriority,
     ": {compressor} is more than one all-reduce, and communication.overlap: priority cuts "
     "tensors into partitions that are reduced one by one",
     "take communication.overlap: bucketed"},
};

}  // namespace
}  // namespace features

std::span<const Conflict> exchange_conflicts() {
  return features::kExchangeRows;
}

}  // namespace windtunnel
