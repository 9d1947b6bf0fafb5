// The work of a model's stage for the peer that serves it, and the pace of a peer. Links carry the
// next micro-batch while one is computed, so the slowest of compute, upload and download determines
// the pace. Compute grows with the cube of a layer's width and messages with its square (the
// "square-cube law" of SWARM, arXiv 2301.11913, section 3.1).
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/volunteers/volunteers.hpp"

namespace windtunnel {

// Compute and messages are those of one micro-batch, forward and backward together.
struct StageWork {
  double compute_s = 0;  // on a node of the job
  double bytes = 0;  // each way: activations in and out, and gradients in the opposite directions
  int messages = 0;  // number of messages that arrive
  // weights and optimizer state: downloaded by a peer that takes over the stage
  double state_bytes = 0;
  double gradient_bytes = 0;
};

// Returns the work of each stage of the model. `chunks` is chunk_costs() of the job.
std::vector<StageWork> stage_works(const Job& job, const std::vector<ChunkCost>& chunks);

// Micro-batches per second; 0 for a peer that does not compute.
double peer_rate(const PeerKind& peer, const StageWork& work);

// Share of its time in which a peer computes: while micro-batches queue for it, and with one in
// flight, when each waits for its message and latency before it is computed.
double utilisation(const PeerKind& peer, const StageWork& work);
double unhidden_utilisation(const PeerKind& peer, const StageWork& work);

// Time for the peer to take over the stage.
double takeover_s(const Volunteers& volunteers, const PeerKind& peer, const StageWork& work);

}  // namespace windtunnel
