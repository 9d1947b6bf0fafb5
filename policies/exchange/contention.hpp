// How much compute and collectives slow each other down when they overlap. Kernels of a segment are
// slower because collectives use SMs and memory bandwidth (Segment::slowdown, from the factor
// `slowdown`: overlapped_slowdown(job)). Collectives are slower because other collectives use
// bandwidth (Transfer::longer_s).
#pragma once

#include "policies/exchange/segments.hpp"

namespace windtunnel {

// Slows segments in steady state: while a segment runs, the gathers of the next one and the
// reductions of the previous one run, including the kernels on the collectives' stream.
void slow_down_units(Segments& segments, double action_s, double slowdown);

// Slows segments that overlap unfinished reductions of earlier segments.
void slow_down_buckets(Segments& segments, double action_s, double slowdown);

// Slows segments that overlap gathers, which run until `end_s`; those of these segments start at
// `channel_s`. The action can start at `now_s`.
void slow_down_gathered(Segments& segments, double action_s, double now_s, double channel_s,
                        double end_s, double slowdown);

// Issues each row of reductions on the stream that is free first of two. If two reductions of s
// bytes overlap, each takes a + 1.5 b s instead of a + b s (ASC-WFBP, Shi, Chu, Li, INFOCOM 2021).
// During the overlap each runs at 1 / 1.5 of its pace, so each is delayed by half of the remaining
// time of the shorter one. The backward takes `action_s`, as if no other collectives overlapped it.
void run_two_at_once(Segments& segments, double action_s, double alpha_s);

}  // namespace windtunnel
