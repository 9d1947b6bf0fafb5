// How unevenly a router loads the ranks that share its experts. The scenario gives the imbalance
// (MixtureOfExperts::imbalance), or it follows from the popularity of experts: the i-th most
// popular one gets a share of all copies proportional to i^-zipf. Experts are assigned to ranks at
// random: of several seeded random orders the one whose fullest rank is nearest to the average is
// used. The order is the same for all layers, micro-batches and groups of a step, or each layer
// draws its own (PopularityOrder::by_layer). That a token's experts are all different is ignored.
//
// Hot experts, the most popular ones, may be replicated on every rank (Hecate's fully sharded
// sparse data parallelism: arXiv 2502.02581, cited from memory); their tokens then stay local and
// balanced.
#pragma once

#include <vector>

#include "models/workload/transformer.hpp"

namespace windtunnel {

struct ExpertLoad {
  double hot = 0;  // share of all copies whose expert is on every rank
  // copies of other experts that the fullest rank gets, over the mean of all copies
  double received = 1;
  // [rank] load by other experts over their mean; empty: not known by rank.
  std::vector<double> by_rank = {};
  // Rows of the experts on the busiest rank, over the mean.
  double busiest() const { return hot + received; }
};

// Expected number of places that hold at least one expert of a token. Experts are divided evenly
// over `places` places in order, and each expert in a token's groups is equally likely.
double places_met(const MixtureOfExperts& moe, int places);

// The load of the ranks that share the experts of layer MixtureOfExperts::layer. If there is one
// rank, it has all experts.
ExpertLoad expert_load(const MixtureOfExperts& moe, int ranks);

}  // namespace windtunnel
