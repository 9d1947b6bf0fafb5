// Layers of the stages so that all pipeline ranks compute as long: slow nodes get fewer, as do
// those with the embedding or the loss head. As HexiScale (Yan et al. 2024, arXiv 2409.01143) and
// Whale (Jia et al. 2022, arXiv 2011.09208) divide models among unlike GPUs.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// Time of a micro-batch through a stage and back, all passes.
double pass_s(const ChunkCost& chunk);

// [stage] of a job of two stages or more, whose ranks hold them in a loop. Layers count as equally
// long. A rank takes as long as on the slowest of its replicas' nodes.
std::vector<int> balanced_stages(const Job& job);

}  // namespace windtunnel
