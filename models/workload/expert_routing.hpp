// How unevenly the router of a mixture of experts loads the ranks that share its experts. A
// scenario states it (MixtureOfExperts::imbalance), or it follows from the popularity of the
// experts: the i-th most visited one gets a share of all copies proportional to i^-zipf. Experts
// lie on the ranks in an order that knows nothing of that: of several seeded random orders the one
// whose fullest rank is nearest to their mean. It holds for all layers, micro-batches and groups of
// a step; or each layer draws one (PopularityOrder::by_layer), for all micro-batches and groups.
// That no expert can see a token twice is not counted.
//
// Hot experts, the most visited ones, may lie on every rank (Hecate's fully sharded sparse data
// parallelism: arXiv 2502.02581, as remembered): then their tokens stay where they are, evenly.
#pragma once

#include <vector>

#include "models/workload/transformer.hpp"

namespace windtunnel {

struct ExpertLoad {
  double hot = 0;       // share of all copies whose expert lies on every rank
  double received = 1;  // others: copies that the fullest rank gets, over the mean of all copies
  // [rank] of the others, over their mean; empty: no rank is known to get more than another.
  std::vector<double> by_rank = {};
  // Rows of the busiest rank's experts over the mean.
  double busiest() const { return hot + received; }
};

// Mean number of places that have an expert of a token. All experts lie on `places` equal places,
// one after the other, and all experts of the token's groups are equally likely.
double places_met(const MixtureOfExperts& moe, int places);

// The load of the ranks that experts are divided among, in MixtureOfExperts::layer; one rank has
// them all.
ExpertLoad expert_load(const MixtureOfExperts& moe, int ranks);

}  // namespace windtunnel
