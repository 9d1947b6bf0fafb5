// What a stage of the model asks of the peer that serves it, and how fast a peer is at it. Links
// carry the next micro-batch while one is computed, so a peer passes as many as the slowest of
// compute, upload and download lets it. Compute grows with the cube of a layer's width and messages
// with its square (the "square-cube law" of SWARM, arXiv 2301.11913, section 3.1).
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/volunteers/volunteers.hpp"

namespace windtunnel {

// Of one micro-batch, forward and backward.
struct StageWork {
  double compute_s = 0;    // on a node of the job
  double bytes = 0;        // each way: activations in and out, and gradients against them
  int messages = 0;        // that arrive
  double state_bytes = 0;  // of weights and optimizer: what a peer that takes the stage needs
  double gradient_bytes = 0;
};

// [stage of the model] `chunks`: chunk_costs() of the job.
std::vector<StageWork> stage_works(const Job& job, const std::vector<ChunkCost>& chunks);

// Micro-batches a second; 0 of a peer that does not compute.
double peer_rate(const PeerKind& peer, const StageWork& work);

// Share of its time in which a peer computes: with micro-batches waiting for it, and where each
// waits for its message, latency included, before it is computed (one in flight).
double utilisation(const PeerKind& peer, const StageWork& work);
double unhidden_utilisation(const PeerKind& peer, const StageWork& work);

// What the peer needs to take over the stage.
double takeover_s(const Volunteers& volunteers, const PeerKind& peer, const StageWork& work);

}  // namespace windtunnel
