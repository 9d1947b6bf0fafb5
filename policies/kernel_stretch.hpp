// How much slower the kernels of an action's pieces are because collectives run beside them and
// take SMs and memory bandwidth from them: sets Piece::stretch. `slowdown`:
// overlapped_slowdown(job).
#pragma once

#include "policies/pieces.hpp"

namespace windtunnel {

// In the middle of a row of actions: beside a piece run the gather of the next one and the
// reduction of the one before.
void stretch_units(Pieces& pieces, double action_s, double slowdown);

// Beside a piece run the reductions of those before it that are not through.
void stretch_buckets(Pieces& pieces, double action_s, double slowdown);

// Gathers run until `end_s`, those of the pieces from `channel_s` on; the action can start at
// `now_s`.
void stretch_gathered(Pieces& pieces, double action_s, double now_s, double channel_s, double end_s,
                      double slowdown);

}  // namespace windtunnel
