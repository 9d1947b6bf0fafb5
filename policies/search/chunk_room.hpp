// How much room a GPU has for chunks of training state (OffloadPlacement::chunks). As in
// PatrickStar's warm-up iteration (Fang et al. 2021, arXiv 2108.05818), an iteration with all
// chunks on the host shows what everything else needs.
#pragma once

#include "models/plan/job.hpp"
#include "policies/exchange/job_geometry.hpp"

namespace windtunnel {

// The same job with Offload::chunks determined, and Offload::optimizer_share accordingly: if all
// weights and all activations fit, optimizer state uses the rest.
Job with_chunks_found(const Job& job, const SharedGeometry& geometry = nullptr);

}  // namespace windtunnel
