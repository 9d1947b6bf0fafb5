// How much room a GPU has for chunks of training state (OffloadPlacement::chunks). As in
// PatrickStar's warm-up iteration (Fang et al. 2021, arXiv 2108.05818), an iteration with all
// chunks on the host shows how much everything else needs.
#pragma once

#include "models/plan/job.hpp"
#include "policies/exchange/job_geometry.hpp"

namespace windtunnel {

// Returns the job with Offload::chunks found, and with the Offload::optimizer_share that follows:
// if all weights and all activations fit, optimizer state uses the remaining room.
Job with_chunks_found(const Job& job, const SharedGeometry& geometry = nullptr);

}  // namespace windtunnel
