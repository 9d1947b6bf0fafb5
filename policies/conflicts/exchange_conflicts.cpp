// Ways of exchanging gradients: overlap, compressor, aggregation, sharding.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kExchangeRows[] = {
    {kCrossing, kSharded,
     ": {overlap} does not go with layout.sharding: {sharding}: it reduces whole gradients",
     "bucketed scatters them under the backward pass and gathers weights under the next forward "
     "pass"},
    {kServed, kSharded,
     ": parameter-server does not go with layout.sharding: {sharding}: servers return whole sums",
     ""},
    {kDear, kServed,
     ": dear splits an all-reduce into its halves, and communication.aggregation: "
     "parameter-server has none",
     "take communication.aggregation: all-reduce"},
    {kBeyondBuckets, kZero3,
     "does not go with layout.sharding: {sharding}: FSDP's units are the layers",
     "take none or bucketed"},
    {kEmbeddingRows, kLayerTable, ": model '{model}' has none", "leave it at dense"},
    {kEmbeddingRows, kSharded,
     "does not go with layout.sharding: {sharding}: rows of embeddings are no sum that can be "
     "cut in parts",
     ""},
    {kEmbeddingRows, kServed,
     "does not go with communication.aggregation: parameter-server: rows of embeddings are no "
     "sum that can be cut in parts",
     ""},
    {kEmbeddingRows, kDear,
     "does not go with communication.overlap: dear: rows of embeddings are no sum that can be "
     "cut in parts",
     ""},
    {kEmbeddingRows, kTied,
     ": with model.tied_embeddings the loss head fills all rows of the gradient",
     "leave it at dense"},
    {kRobust, kFewReplicas, ": {bears}", ""},
    {kRobust, kRedundancy, ": is not modelled beside redundancy", "leave one of them out"},
    {kRobust, kCompressed, "takes gradients as they are",
     "leave out communication.compressor and compress with axis: dp"},
    {kRobust, kServed, "needs communication.aggregation: all-reduce, because servers sum gradients",
     ""},
    {kRobust, kSharded,
     "is no sum that can be reduce-scattered, and layout.sharding: {sharding} scatters gradients",
     "take layout.sharding: none"},
    {kRobust, kEmbeddingRows, "takes dense gradients", "leave out communication.embeddings"},
    {kRobust, kCrossing,
     "is more than one all-reduce, which communication.overlap: {overlap} takes",
     "take communication.overlap: none or bucketed"},
    {kRobust, kExperts, "of experts is not modelled, whose copies are fewer than the replicas", ""},
    {kRobust, kContextRanks,
     "is of replicas, and layout.cp leaves each rank a part of one's gradient",
     "take layout.cp: 1"},
    {kMoments, kNotAdam,
     ": {compressor} compresses Adam's moments, which software.optimizer has not",
     "set software.optimizer: adam, or take onebit-sgd"},
    {kCompressed, kServed,
     ": {compressor} needs communication.aggregation: all-reduce, because servers sum dense "
     "gradients",
     ""},
    {kNoSum, kSharded,
     ": {compressor} cannot be reduce-scattered, because what it sends is no sum, and "
     "layout.sharding: {sharding} scatters gradients",
     "take layout.sharding: none{room}, or layout.shard_ranks with communication.compressor.hop: "
     "across, which compresses between the copies of shards"},
    {kWholeTensors, kSharded,
     ": {compressor} needs whole matrices on every rank, and layout.sharding: {sharding} leaves "
     "each a part of them",
     "take layout.sharding: none{room}"},
    {kCompressed, kGradientBits,
     ": {compressor} is one way of exchanging gradients and layout.gradient_bits another",
     "leave one of them out"},
    {kCompressed, kGradientRanks,
     ": {compressor} is one way of exchanging gradients and layout.gradient_ranks another",
     "leave one of them out"},
    {kUncut, kExpertCopies,
     ": {compressor} cannot be reduce-scattered, and layout.ep: {ep} leaves {copies} copies of "
     "an expert among the ranks that hold one copy of the other weights",
     ""},
    {kHops, kUnshardedExperts,
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
