// Stragglers in time: how much longer or shorter a GPU's kernels take than they should, drawn anew
// for every step or task. One of three laws:
// - a log-normal factor of mean 1. Not a normal one: that can be negative, and what slows a kernel
//   (clock, memory, another process) multiplies its time; below sigma 0.1 the two hardly differ.
// - bursts (Gilbert 1960, Elliott 1963): a Markov chain of a good state, factor 1, and a bad one.
// - a slow share: each draw is slow by itself.
// Counter-based: the factors depend on (seed, draw, GPU or node) alone. Slow nodes that stay slow
// are SlowNode (cluster.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "models/base/choice.hpp"

namespace windtunnel {

enum class JitterPer { step, task };  // how long a factor holds
template <>
inline constexpr Choice<JitterPer> kChoices<JitterPer>[] = {{"step", JitterPer::step},
                                                            {"task", JitterPer::task}};
enum class JitterOf { gpu, node };  // who has it together
template <>
inline constexpr Choice<JitterOf> kChoices<JitterOf>[] = {{"gpu", JitterOf::gpu},
                                                          {"node", JitterOf::node}};

// Mean lengths of both states, in steps or tasks, 1 or more; `good` 0: there are no bursts.
struct Bursts {
  double good = 0;
  double bad = 1;
  double slowdown = 1;  // in the bad state
  bool operator==(const Bursts&) const = default;
};

struct Jitter {
  double sigma = 0;  // of the logarithm
  Bursts bursts = {};
  double share = 0;
  double slowdown = 1;  // of the slow share
  JitterPer per = JitterPer::step;
  JitterOf of = JitterOf::gpu;
  int draws = 8;  // of the whole machine; a step time is their mean
  std::uint64_t seed = 1;
  bool operator==(const Jitter&) const = default;

  bool active() const;  // some factor is not 1
};

// The first factors of GPU or node `unit` in draw `draw`, one per step or task. A chain begins in
// its steady state.
void draw_factors(const Jitter& jitter, int unit, int draw, std::span<double> factors);

// What `groups` groups of `units` GPUs (or nodes) each expect that wait for each other: inside a
// group at every draw, the groups at the end of `draws` draws of equal length. Order statistics:
// jitter.cpp has formulas and sources.
struct ExpectedFactors {
  double group = 1;    // the mean over the draws, of one group
  double slowest = 1;  // of the slowest one
};
ExpectedFactors expected_factors(const Jitter& jitter, double units, double groups, double draws);

}  // namespace windtunnel
