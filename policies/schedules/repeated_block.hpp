// Repeats the passes of one micro-batch to build a pipeline, as V schedules with little memory are
// constructed (Qi et al., "Pipeline Parallelism with Controllable Memory", arXiv 2405.15362). The
// passes of a micro-batch on the ranks of a V occupy slots, one each for F, I and W; every `period`
// slots the next micro-batch starts in the same way; weight gradients fill free slots. Fill and
// drain phases, which have free slots, are then compacted without raising peak memory.
#pragma once

#include <array>
#include <vector>

#include "models/plan/schedule.hpp"

namespace windtunnel {

// Start slots on one rank: forward of its first and second chunk, input gradient of its second and
// first chunk.
using BlockSlots = std::array<int, 4>;

// Appends the actions of all ranks to a schedule of two chunks per rank in a V. `block`: [rank],
// with slots that are distinct modulo `period`, each after its dependencies.
void append_repeated(const std::vector<BlockSlots>& block, int period, Schedule& schedule);

}  // namespace windtunnel
