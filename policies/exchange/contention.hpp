// Slowdown of work that overlaps. Kernels of an action's segments are slower because collectives
// use SMs and memory bandwidth (Segment::slowdown, by the factor `slowdown` of
// overlapped_slowdown(job)). Collectives are slower because other collectives use bandwidth
// (Transfer::longer_s).
#pragma once

#include "policies/exchange/segments.hpp"

namespace windtunnel {

// Slows segments in steady state: a segment overlaps the next one's gather and the previous one's
// reduction, including the kernels on their stream.
void slow_down_units(Segments& segments, double action_s, double slowdown);

// Slows segments that overlap unfinished reductions of earlier segments.
void slow_down_buckets(Segments& segments, double action_s, double slowdown);

// Slows segments by gathers: these run until `end_s`, those of the segments from `channel_s` on;
// the action can start at `now_s`.
void slow_down_gathered(Segments& segments, double action_s, double now_s, double channel_s,
                        double end_s, double slowdown);

// Sequences of reductions on two streams, each on the stream that is free first. If two reductions
// of s bytes overlap, each takes a + 1.5 b s instead of a + b s (ASC-WFBP, Shi, Chu, Li, INFOCOM
// 2021): during overlap each runs at 1 / 1.5 of its pace, so each is delayed by half of the
// remaining time of the shorter one. Computed as if no other collectives overlapped the backward,
// which takes `action_s`.
void run_two_at_once(Segments& segments, double action_s, double alpha_s);

}  // namespace windtunnel
