// Repeats the passes of one micro-batch to build a pipeline, as V schedules with little memory are
// constructed (Qi et al., "Pipeline Parallelism with Controllable Memory", arXiv 2405.15362). The
// passes of a micro-batch on the ranks of a V occupy slots, one each for F, I and W. Every `period`
// slots the next micro-batch starts in the same way, and weight gradients fill free slots. The fill
// and the drain phase have free slots; they are then compacted without raising peak memory.
#pragma once

#include <array>
#include <vector>

#include "models/plan/schedule.hpp"

namespace windtunnel {

// Start slots on one rank: forwards of its first and second chunk, then input gradients of its
// second and first chunk.
using BlockSlots = std::array<int, 4>;

// Makes the actions of all ranks of a schedule of two chunks per rank in a V. `block`: [rank]
// slots that are distinct modulo `period`, each after those of the passes that it depends on.
// `woven_per_rank`: how many micro-batches per rank are placed at most. If there are more, those in
// the middle repeat the order of the placed ones.
void repeat_block(const std::vector<BlockSlots>& block, int period, Schedule& schedule,
                  int woven_per_rank = 8);

}  // namespace windtunnel
