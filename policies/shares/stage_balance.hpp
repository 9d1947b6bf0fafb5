// Divides layers among stages so that all pipeline ranks compute equally long: ranks on slow nodes
// get fewer layers, as do those with the embedding or the loss head. HexiScale (Yan et al. 2024,
// arXiv 2409.01143) and Whale (Jia et al. 2022, arXiv 2011.09208) divide models among different
// GPUs in this way.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// Returns the time of all passes of a micro-batch through a stage.
double pass_s(const ChunkCost& chunk);

// Returns the layers of each stage, for a job with at least two stages in a loop. All layers count
// as equally long. A rank is as slow as the slowest of its replicas' nodes.
std::vector<int> balanced_stages(const Job& job);

}  // namespace windtunnel
