// What replicas send each other for a contrastive loss: embeddings of both sides, and their
// gradients.
#pragma once

#include "models/cost/op/block_cost.hpp"

namespace windtunnel {

// Whole and tiled: all embeddings are gathered, and the gradients of all reduced and scattered. On
// a ring each rank's go round beside the products with them, backward with their gradients. Of a
// micro-batch its share of the step's. The job's replicas are ranks in a row.
void add_contrastive_exchange(const BlockSetting& setting, BlockCost& head);

}  // namespace windtunnel
