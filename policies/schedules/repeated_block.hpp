// A pipeline of one micro-batch's passes, repeated: the way the V schedules with little memory are
// built (Qi et al., "Pipeline Parallelism with Controllable Memory", arXiv 2405.15362). The passes
// of a micro-batch on the ranks of a V are laid out on slots, F, I and W one each; every `period`
// slots the next micro-batch starts the same; weight gradients fill the slots left free; then fill
// and drain, which have room, are moved together without raising the peak of the memory.
#pragma once

#include <array>
#include <vector>

#include "models/plan/schedule.hpp"

namespace windtunnel {

// Start slots on one rank: forward of its first and second chunk, input gradient of its second and
// first chunk.
using BlockSlots = std::array<int, 4>;

// Appends the actions of all ranks to a schedule of two chunks per rank in a V. `block`: [rank],
// no two slots alike modulo `period`, each behind what it depends on.
void append_repeated(const std::vector<BlockSlots>& block, int period, Schedule& schedule);

}  // namespace windtunnel
