// What of a GPU's training state Job::offload lays into the host's memory or onto drives, and what
// the GPU needs in its place to work on it.
#pragma once

#include "models/cost/memory/memory.hpp"

namespace windtunnel {

// Moves of `state`, the weights, gradients and optimizer state of `at` that may move (its
// activations are 0), what the job offloads, and adds the pieces of it that are on the GPU at once:
// of weights and gradients those of two layers and the vocabulary.
void move_to_tiers(const Job& job, const TierMemory& state, double parameters, GpuMemory& at);

}  // namespace windtunnel
