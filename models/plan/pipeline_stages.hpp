// The stages of the model on the ranks of a pipeline, as a layout divides them: layout.vpp chunks
// of layers per rank, chunk c of rank r being stage c * pp + r where no schedule places it
// otherwise.
#pragma once

#include <span>
#include <vector>

#include "models/plan/schedule.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

// A schedule says which stages each rank holds (held_stages()); where it says nothing (empty), they
// hold them in a loop.
HeldStages stages_of_ranks(const Layout& layout, const HeldStages& said);

// The rank that holds each stage in the loop.
std::vector<int> looped_ranks(const Layout& layout);

// [stage] -> its part of the layers of its rank in the loop: the first chunks of a rank have one
// more where they do not divide.
std::vector<int> layers_of_stages(const Layout& layout, std::span<const int> layers_of_rank);

// A pipeline takes (p - 1) / v micro-batches longer than one rank to fill and drain (Narayanan et
// al. 2021, arXiv 2104.04473).
double filling_microbatches(const Layout& layout);

// Which rank is where, without how many layers it has and in how many chunks.
Layout without_stages(Layout layout);

}  // namespace windtunnel
