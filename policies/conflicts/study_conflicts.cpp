// Conflicts of features outside the step: other work, loading of samples, engines, volunteers,
// fused jobs.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kStudyRows[] = {
    {kTiles, kTensorRanks,
     ": tiles that are computed again would repeat the collectives of layout.tp, which is not "
     "modelled",
     "divide the sequence by layout.cp instead"},
    {kFilling, kTaskJitter,
     ": is fitted into what a profile shows, and kernels of which each has a factor of its own "
     "repeat none",
     "take cluster.jitter.per: step"},
    {kFilling, kRedundancy,
     ": redundancy makes up for stragglers in the idle time that other work would fill",
     "leave one of them out"},
    {kInput, kUnevenBatch,
     ": is not modelled with batch.shares, which gives replicas unequal numbers of samples",
     "leave one of them out"},
    {kRollout, kLayerTable, ": engines write tokens, and the model is a table of layers", ""},
    {kRollout, kNoCausalSoftmax,
     ": engines are modelled for causal transformers with softmax attention", ""},
    {kRollout, kTower, ": engines are modelled for text alone, and model.tower reads images",
     "set model.tower.sources to 0"},
    {kVolunteers, kLayerTable, ": goes with transformers, not with tables of layers", ""},
    {kVolunteers, kTwoStacks, ": peers pass on the rows of one stack, and model '{model}' has two",
     ""},
    {kVolunteers, kTower, ": peers hold layers of the decoder, and model.tower has others",
     "set model.tower.sources to 0"},
    {kVolunteers, kLengths, ": with batch.lengths is not modelled", "leave one out"},
    {kFusedJobs, kSeveralRanks, ": takes jobs of one GPU each, and this one has {ranks}", ""},
    {kFusedJobs, kLengths,
     ": fused kernels compute shapes that are alike in all jobs, and packs (batch.lengths) are "
     "unlike",
     "leave one out"},
    {kFusedJobs, kUnsteady, ": jobs are fused on a GPU whose kernels take their usual time",
     "leave it out, or cluster.slow_nodes and cluster.jitter"},
};

constexpr Conflict kCampaignRows[] = {
    {kReroute, kIslands, ": the other islands do not take the work of one that lacks a node",
     "take wait, shrink, under which it drops out, or relayout, under which it goes on in another "
     "layout"},
    {kReroute, kPools,
     ": reroute gives the passes of a lost node to nodes that hold the same stage, and on "
     "cluster.pools those have paces of their own",
     "take shrink, relayout or wait"},
    // Idle time used for rerouted micro-batches is not distinguished from idle time caused by
    // stragglers.
    {kReroute, kRedundancy,
     ": reroute does not go with redundancy, under which replicas have other work to do than that "
     "of lost ones",
     "take wait or shrink"},
    {kGoesOnSmaller, kIslandsOnSharedNodes,
     ": says what an island does that lacks a node, but here no island has nodes of its own",
     "take wait"},
    {kShrinking, kIslandLevels,
     ": shrink, under which an island that lacks a node drops out, goes with one level of "
     "exchanges",
     "take wait, or list one level"},
    {kListedLayouts, kIslands,
     ": lists layouts of the whole job, and an island that lacks a node takes the fastest of its "
     "own layouts (any)",
     ""},
    {kRelayout, kOutOfOrder, ": relayout goes with nodes in order", "take shrink or wait"},
    {kRelayout, kLengths,
     ": which ranks compute which sequences is decided for one layout, and relayout looks for "
     "others with sequences of one length",
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
