// A contrastive loss compares the samples of all replicas, so that these exchange the embeddings of
// both sides and their gradients.
#pragma once

#include "models/cost/op/block_cost.hpp"

namespace windtunnel {

// Whole and tiled: all embeddings are gathered, and their gradients reduce-scattered. Ring: each
// rank's embeddings go round while products with them run, in the backward pass together with their
// gradients. A micro-batch counts its share of the step's exchange. The job's replicas are
// consecutive ranks.
void add_contrastive_exchange(const BlockSetting& setting, BlockCost& head);

}  // namespace windtunnel
