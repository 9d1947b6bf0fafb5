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

// Makes the actions of all ranks of a schedule of two chunks per rank in a V. `block`: [rank],
// with slots that are distinct modulo `period`, each after its dependencies. At most
// `woven_per_rank` micro-batches per rank are placed; of more, those in the middle repeat.
void append_repeated(const std::vector<BlockSlots>& block, int period, Schedule& schedule,
                     int woven_per_rank = 8);

}  // namespace windtunnel
