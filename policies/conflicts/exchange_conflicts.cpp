// Conflicts of how gradients are exchanged: overlap, compressor, aggregation, sharding.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kExchangeRows[] = {
    {kDear, kServed,
     ": dear splits an all-reduce into its halves, and communication.aggregation: parameter-server "
     "uses no all-reduce",
     "take communication.aggregation: all-reduce"},
    {kBeyondBuckets, kZero3,
     "does not go with layout.sharding: {sharding}, because FSDP exchanges whole layers",
     "take none or bucketed"},
    {kEmbeddingRows, kLayerTable, ": model '{model}' has no embeddings", "leave it at dense"},
    {kEmbeddingRows, kTied,
     ": with model.tied_embeddings the loss head fills all rows of the gradient",
     "leave it at dense"},
    {kRobust, kFewReplicas, "does not work here: {bears}", ""},
    {kRobust, kRedundancy, ": is not modelled together with redundancy", "leave one of them out"},
    {kRobust, kCompressed, "needs uncompressed gradients",
     "leave out communication.compressor and compress with axis: dp"},
    {kRobust, kServed, "needs communication.aggregation: all-reduce, because servers sum gradients",
     ""},
    {kMonna, kSharded,
     "gives each replica its own weights, but layout.sharding: {sharding} divides the state of one "
     "model among the replicas",
     "take layout.sharding: none, or another rule"},
    {kRobust, kEmbeddingRows, "needs dense gradients", "leave out communication.embeddings"},
    {kRobust, kCrossing,
     "needs more than one all-reduce, but communication.overlap: {overlap} supports only one",
     "take communication.overlap: none or bucketed"},
    {kRobust, kExperts,
     "is not modelled for experts, because an expert has fewer copies than the job has replicas",
     ""},
    {kRobust, kContextRanks,
     "combines whole gradients of replicas, but with layout.cp each rank has only a part of a "
     "gradient",
     "take layout.cp: 1"},
    {kMoments, kNotAdam,
     ": {compressor} compresses both of Adam's moments, which only software.optimizer: adam keeps",
     "set software.optimizer: adam, or take onebit-sgd"},
    {kWholeMomentum, kScatteredMicrobatches,
     ": {compressor} adds the gradients of a whole step to a momentum, but layout.sharding: "
     "{sharding} scatters the gradients after each micro-batch",
     "take layout.sharding: zero1"},
    {kCompressed, kServed,
     ": {compressor} needs communication.aggregation: all-reduce, because servers sum dense "
     "gradients",
     ""},
    {kCompressed, kGradientBits,
     ": {compressor} and layout.gradient_bits are two ways of exchanging gradients, and a job can "
     "use only one",
     "leave out layout.gradient_bits"},
    {kCompressed, kGradientRanks,
     ": {compressor} and layout.gradient_ranks are two ways of exchanging gradients, and a job can "
     "use only one",
     "leave out layout.gradient_ranks"},
    {kHops, kExperts,
     ": {compressor} reduces inside the nodes first, which is not modelled for the gradients of "
     "experts",
     ""},
    {kAcross, kCrossing,
     ": {compressor} with hop: across needs a reduce-scatter, an exchange and a gather, but "
     "communication.overlap: {overlap} supports only an all-reduce",
     "take communication.overlap: bucketed"},
    {kSeveralCollectives, kDear,
     ": {compressor} needs more than one all-reduce, but communication.overlap: dear splits a "
     "single one into its halves",
     "take communication.overlap: bucketed"},
    {kWholeTensors, kPriority,
     ": {compressor} needs whole matrices, but communication.overlap: priority cuts tensors into "
     "partitions and reduces them one by one",
     "take communication.overlap: bucketed"},
    {kSeveralCollectives, kPriority,
     ": {compressor} needs more than one all-reduce, but communication.overlap: priority reduces "
     "partitions of tensors one by one",
     "take communication.overlap: bucketed"},
};

}  // namespace
}  // namespace features

std::span<const Conflict> exchange_conflicts() {
  return features::kExchangeRows;
}

}  // namespace windtunnel
