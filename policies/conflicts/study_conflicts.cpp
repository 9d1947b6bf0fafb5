// Conflicts of features outside the step: other work in idle time, loading of samples, engines,
// volunteers, fused jobs.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kStudyRows[] = {
    {kTiles, kTensorRanks,
     ": recomputed tiles would repeat the collectives of layout.tp, which is not modelled",
     "divide the sequence by layout.cp instead"},
    {kFilling, kTaskJitter,
     ": needs the same idle times in every step, but with per: task each kernel varies on its own",
     "take cluster.jitter.per: step"},
    {kFilling, kRedundancy, ": redundancy uses the idle time that other work would fill",
     "leave one of them out"},
    {kInput, kUnevenBatch,
     ": is not modelled with batch.shares, which gives replicas unequal numbers of samples",
     "leave one of them out"},
    {kRollout, kLayerTable, ": engines generate tokens, but the model is a table of layers", ""},
    {kRollout, kNoCausalSoftmax,
     ": engines are modelled for causal transformers with softmax attention", ""},
    {kRollout, kTower, ": engines are modelled for text alone, but model.tower reads images",
     "set model.tower.sources to 0"},
    {kVolunteers, kLayerTable, ": needs a transformer, and the model is a table of layers", ""},
    {kVolunteers, kTwoStacks,
     ": peers pass on the activations of a single stack of layers, and model '{model}' has two",
     ""},
    {kVolunteers, kTower, ": peers hold layers of the decoder, and model.tower has others",
     "set model.tower.sources to 0"},
    {kVolunteers, kLengths, ": with batch.lengths is not modelled", "leave one out"},
    {kFusedJobs, kSeveralRanks, ": fuses jobs of one GPU each, but this one uses {ranks}", ""},
    {kFusedJobs, kLengths,
     ": fused kernels need the same shapes in all jobs, but packs (batch.lengths) differ",
     "leave one out"},
    {kFusedJobs, kUnsteady, ": fused jobs are modelled only on GPUs of constant speed",
     "leave out either fuse or cluster.slow_nodes and cluster.jitter"},
};

constexpr Conflict kCampaignRows[] = {
    {kReroute, kIslands,
     ": reroute does not go with islands (sync): other islands do not take over the work of one "
     "that lost a node",
     "take wait, shrink (the island drops out) or relayout (the island goes on in another layout)"},
    {kReroute, kPools,
     ": reroute gives the passes of a lost node to other nodes with the same stage, and on "
     "cluster.pools these differ in speed",
     "take shrink, relayout or wait"},
    // Idle time that rerouted micro-batches use is not distinguished from idle time that stragglers
    // cause.
    {kReroute, kRedundancy,
     ": reroute does not go with redundancy, because the replicas that would take over passes "
     "already do redundant work",
     "take wait or shrink"},
    {kGoesOnSmaller, kIslandsOnSharedNodes,
     ": shrink and relayout act on islands that lost a node, but here islands share nodes",
     "take wait"},
    {kShrinking, kIslandLevels,
     ": shrink drops an island that lost a node, which is modelled for one level of exchanges "
     "(sync) only",
     "take wait, or give sync one level"},
    {kListedLayouts, kIslands,
     ": lists layouts of the whole job, but with islands (sync) an island that lost a node always "
     "takes its own fastest layout (any)",
     ""},
    {kRelayout, kOutOfOrder, ": relayout needs the nodes in their default order",
     "take shrink or wait"},
    {kRelayout, kLengths,
     ": relayout is not modelled with sequences of unequal length (batch.lengths)",
     "take shrink or wait"},
};

}  // namespace
}  // namespace features

std::span<const Conflict> campaign_conflicts() {
  return features::kCampaignRows;
}

std::span<const Conflict> study_conflicts() {
  return features::kStudyRows;
}

}  // namespace windtunnel
