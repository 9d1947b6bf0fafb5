// Stragglers in time: how much longer or shorter a GPU's kernels take than they should, drawn anew
// for every step or task. One of five laws:
// - a log-normal factor of mean 1. Not a normal one: that can be negative, and what slows a kernel
//   (clock, memory, another process) multiplies its time; below sigma 0.1 the two hardly differ.
// - 1 and an exponential variable, or a Pareto variable of 1 and more.
// - bursts (Gilbert 1960, Elliott 1963): a Markov chain of a good state, factor 1, and a bad one.
// - a slow share: each draw is slow by itself.
// Counter-based: the factors depend on (seed, draw, GPU or node) alone. Slow nodes that stay slow
// are SlowNode (cluster.hpp). In words: docs/physics/cost.md.
#pragma once

#include <cstdint>
#include <span>

#include "models/base/choice.hpp"
#include "models/base/random.hpp"
#include "models/machine/order_statistics.hpp"

namespace windtunnel {

enum class JitterPer { step, task, run };  // how long a factor holds
template <>
inline constexpr Choice<JitterPer> kChoices<JitterPer>[] = {
    {"step", JitterPer::step}, {"task", JitterPer::task}, {"run", JitterPer::run}};
enum class JitterOf { gpu, node };  // who has it together
template <>
inline constexpr Choice<JitterOf> kChoices<JitterOf>[] = {{"gpu", JitterOf::gpu},
                                                          {"node", JitterOf::node}};

// Mean lengths of both states, in steps or tasks, 1 or more; `good` 0: there are no bursts.
struct Bursts {
  double good = 0;
  double bad = 1;
  double slowdown = 1;  // in the bad state
  double tail = 0;      // exponent of a Pareto variable that multiplies it in each draw; 0: none
  bool operator==(const Bursts&) const = default;
};

struct Jitter {
  double sigma = 0;  // of the logarithm
  Bursts bursts = {};
  double share = 0;
  double slowdown = 1;     // of the slow share
  double exponential = 0;  // mean of the exponential variable that comes on top of 1
  double pareto = 0;       // exponent; 0: another law
  // From one draw to the next, of the normal variable that sigma, exponential and pareto transform.
  double memory = 0;
  JitterPer per = JitterPer::step;
  JitterOf of = JitterOf::gpu;
  int draws = 8;  // of the whole machine; a step time is their mean
  std::uint64_t seed = 1;
  bool operator==(const Jitter&) const = default;

  bool active() const;  // some factor is not 1
};

// The factors of GPU or node `unit` in draw `draw`, one per step or task, in turn. A chain begins
// in its steady state.
class FactorStream {
 public:
  FactorStream(const Jitter& jitter, int unit, int draw);
  void next(std::span<double> factors);

 private:
  void draw(std::span<double> factors);
  double transformed(double z) const;

  Jitter jitter_;
  RandomStream random_;
  double chance_ = 0;  // of the bad state in the next draw
  double stays_ = 0;   // in it
  double turns_ = 0;   // bad after good
  double slowdown_ = 1;
  double z_ = 0;     // the last normal variable
  double held_ = 0;  // the factor that holds for the whole run; 0: none yet
  bool begun_ = false;
};
void draw_factors(const Jitter& jitter, int unit, int draw, std::span<double> factors);

// Moments of one draw; infinite where a Pareto tail has none.
Moments factor_moments(const Jitter& jitter);
// From one draw to the next but `distance`: of the two states exact, of other laws that of the
// normal variable.
double factor_correlation(const Jitter& jitter, int distance);
// Expected k-th smallest of the factors of n GPUs or nodes in one draw (David and Nagaraja, Order
// Statistics, 2003).
double expected_factor(const Jitter& jitter, double n, double k);
// Moments of the slowest of `units`.
Moments slowest_moments(const Jitter& jitter, double units);

// What `groups` groups of `units` GPUs (or nodes) each expect that wait for each other: inside a
// group at every draw, the groups at the end of `draws` draws of equal length. Order statistics:
// jitter.cpp has formulas and sources.
struct ExpectedFactors {
  double group = 1;    // the mean over the draws, of one group
  double slowest = 1;  // of the slowest one
};
ExpectedFactors expected_factors(const Jitter& jitter, double units, double groups, double draws);

}  // namespace windtunnel
