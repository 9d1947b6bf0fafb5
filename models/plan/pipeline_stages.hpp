// How a layout divides the model's stages among the ranks of a pipeline: each rank has layout.vpp
// chunks of layers, and chunk c of rank r is stage c * pp + r unless the schedule places it
// elsewhere.
#pragma once

#include <span>
#include <vector>

#include "models/plan/schedule.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

// `said`: the stages of each rank as the schedule gives them (held_stages()). If it is empty, the
// stages are dealt to the ranks in a loop.
HeldStages stages_of_ranks(const Layout& layout, const HeldStages& said);

// The rank that holds each stage when stages are dealt in a loop.
std::vector<int> looped_ranks(const Layout& layout);

// Result: [stage] -> its number of layers when stages are dealt in a loop. Where a rank's layers do
// not divide evenly, its first chunks have one more.
std::vector<int> layers_of_stages(const Layout& layout, std::span<const int> layers_of_rank);

// A pipeline takes as long to fill and drain as one rank takes for this many micro-batches: (p - 1)
// / v (Narayanan et al. 2021, arXiv 2104.04473).
double filling_microbatches(const Layout& layout);

// Leaves out how layers are divided into stages and chunks; the groups of ranks remain.
Layout without_stages(Layout layout);

}  // namespace windtunnel
