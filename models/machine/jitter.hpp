// Random stragglers: factors on the duration of a GPU's kernels, drawn anew for every step or task.
// There are five laws:
// - a log-normal factor of mean 1. A normal one could be negative, and the causes (clock, memory,
//   other processes) multiply a kernel's time; below sigma 0.1 the two hardly differ.
// - 1 plus an exponential variable, or a Pareto variable of at least 1.
// - bursts (Gilbert 1960, Elliott 1963): a Markov chain of a good state with factor 1 and a bad
//   state.
// - a slow share: independent draws, each slow with this probability.
// Counter-based: factors depend only on (seed, draw, GPU or node). Permanently slow nodes are
// SlowNode (cluster.hpp). Explained in docs/physics/cost.md.
#pragma once

#include <cstdint>
#include <span>

#include "models/base/choice.hpp"
#include "models/base/random.hpp"
#include "models/machine/order_statistics.hpp"

namespace windtunnel {

enum class JitterPer { step, task, run };  // how long a factor is kept
template <>
inline constexpr Choice<JitterPer> kChoices<JitterPer>[] = {
    {"step", JitterPer::step}, {"task", JitterPer::task}, {"run", JitterPer::run}};
enum class JitterOf { gpu, node };  // whether GPUs of a node share factors
template <>
inline constexpr Choice<JitterOf> kChoices<JitterOf>[] = {{"gpu", JitterOf::gpu},
                                                          {"node", JitterOf::node}};

// Mean lengths of both states, in steps or tasks, at least 1; `good` 0: no bursts.
struct Bursts {
  double good = 0;
  double bad = 1;
  double slowdown = 1;  // in the bad state
  // exponent of a Pareto variable that multiplies the bad state's factor in each draw; 0: none
  double tail = 0;
  bool operator==(const Bursts&) const = default;
};

struct Jitter {
  double sigma = 0;  // standard deviation of the logarithm
  Bursts bursts = {};
  double share = 0;
  double slowdown = 1;     // of the slow share
  double exponential = 0;  // mean of the exponential variable that is added to 1
  double pareto = 0;       // exponent; 0: not this law
  // Correlation between consecutive draws of the normal variable behind sigma, exponential and
  // pareto.
  double memory = 0;
  JitterPer per = JitterPer::step;
  JitterOf of = JitterOf::gpu;
  int draws = 8;  // of the whole machine; the reported step time is their mean
  std::uint64_t seed = 1;
  bool operator==(const Jitter&) const = default;

  bool active() const;  // whether any factor differs from 1
};

// The factors of GPU or node `unit` in draw `draw`, one per step or task, in order. A Markov chain
// begins in its steady state.
class FactorStream {
 public:
  FactorStream(const Jitter& jitter, int unit, int draw);
  void next(std::span<double> factors);

 private:
  void draw(std::span<double> factors);
  double transformed(double z) const;

  Jitter jitter_;
  RandomStream random_;
  double chance_ = 0;  // probability that the next draw is in the bad state
  double stays_ = 0;   // probability of bad after bad
  double turns_ = 0;   // probability of bad after good
  double slowdown_ = 1;
  double z_ = 0;     // the last normal variable
  double held_ = 0;  // the factor for the whole run, if it is kept that long; 0: none yet
  bool begun_ = false;
};
void draw_factors(const Jitter& jitter, int unit, int draw, std::span<double> factors);

// Moments of one draw; infinite if a Pareto tail has none.
Moments factor_moments(const Jitter& jitter);
// Correlation between draws that are `distance` apart: exact for bursts, otherwise that of the
// normal variable.
double factor_correlation(const Jitter& jitter, int distance);
// Expected k-th smallest of the factors of n GPUs or nodes in one draw (David and Nagaraja, Order
// Statistics, 2003).
double expected_factor(const Jitter& jitter, double n, double k);
// Returns the moments of the largest of `units` factors.
Moments slowest_moments(const Jitter& jitter, double units);

// Expected factors of `groups` groups of `units` GPUs (or nodes) each. A group synchronises at
// every draw, the groups with each other after `draws` draws of equal length. Order statistics:
// formulas and sources are in jitter.cpp.
struct ExpectedFactors {
  double group = 1;    // mean over the draws, for one group
  double slowest = 1;  // mean over the draws, for the slowest group
};
ExpectedFactors expected_factors(const Jitter& jitter, double units, double groups, double draws);

}  // namespace windtunnel
