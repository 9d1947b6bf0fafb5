// What runs beside something else takes longer. Kernels of an action's segments take longer because
// collectives take SMs and memory bandwidth from them (Segment::slowdown, by the factor `slowdown`
// of overlapped_slowdown(job)). Collectives take longer because others take bandwidth from them
// (Transfer::longer_s).
#pragma once

#include "policies/exchange/segments.hpp"

namespace windtunnel {

// In the middle of a row of actions: beside a segment run the gather of the next one and the
// reduction of the one before, with the kernels that stand on their stream.
void slow_down_units(Segments& segments, double action_s, double slowdown);

// Beside a segment run the reductions of those before it that are not through.
void slow_down_buckets(Segments& segments, double action_s, double slowdown);

// Gathers run until `end_s`, those of the segments from `channel_s` on; the action can start at
// `now_s`.
void slow_down_gathered(Segments& segments, double action_s, double now_s, double channel_s,
                        double end_s, double slowdown);

// Rows of reductions on two streams, each on the one that is free first. Two of s bytes at once
// take a + 1.5 b s where one takes a + b s (ASC-WFBP, Shi, Chu, Li, INFOCOM 2021): while both run,
// either gets on at 1 / 1.5 of its pace, so that each takes longer by half of what the shorter one
// had left when they met. Reckoned as if the backward, of `action_s`, had no other collectives
// beside it.
void run_two_at_once(Segments& segments, double action_s, double alpha_s);

}  // namespace windtunnel
