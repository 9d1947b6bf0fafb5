// How much room a GPU has for chunks of training state (OffloadPlacement::chunks): as PatrickStar's
// warm-up iteration (Fang et al. 2021, arXiv 2108.05818), an iteration with all of them beside the
// GPU shows what everything else needs.
#pragma once

#include "models/plan/job.hpp"
#include "policies/exchange/job_geometry.hpp"

namespace windtunnel {

// The same job with Offload::chunks found, and Offload::optimizer_share as they say: where there is
// room for all weights beside all activations, optimizer state has the rest.
Job with_chunks_found(const Job& job, const SharedGeometry& geometry = nullptr);

}  // namespace windtunnel
