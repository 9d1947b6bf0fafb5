// Samples rounds of a data-parallel step: each ends when the master has what the scheme needs from
// its workers. Unfinished workers then stop, and all begin the next round together.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/reliability/stragglers/best_count.hpp"
#include "models/reliability/stragglers/redundancy.hpp"
#include "models/reliability/stragglers/selective_repeat.hpp"
#include "models/reliability/stragglers/straggler_window.hpp"
#include "models/reliability/stragglers/worker_factors.hpp"

namespace windtunnel {

// The ends of consecutive rounds of `workers` workers. `redundancy` and `jitter` must outlive it.
class RoundEnds {
 public:
  RoundEnds(const Redundancy& redundancy, const Jitter& jitter, int workers);

  double end_of(std::span<const double> times);  // [worker]
  int waited_rounds() const { return waited_; }

 private:
  double waited(double end, double tolerated);
  double of_copies(std::span<double> times) const;
  double of_all_but(int missing, std::span<const double> times, double tolerated);

  const Redundancy& own_;
  StragglerWindow window_;
  std::optional<SelectiveRepeat> repeat_;
  BestCounts counts_;
  std::vector<double> arrivals_;  // scratch
  int waited_ = 0;
  int bad_ = 0;  // number of bad workers in the last round
};

struct StragglerRounds {
  // Times are in units of an undisturbed worker's round. `lengths` are means over equal parts of
  // the rounds, each far longer than a burst, so that they are nearly independent.
  std::vector<double> lengths;
  double length = 0;   // mean of all rounds
  double slowest = 0;  // mean of all rounds if each waited for the slowest
  // share of rounds that lasted beyond the tolerance because workers were missing
  double waited_share = 0;
  double missing = 0;         // workers that a round did not wait for
  double gradient_share = 0;  // share of the batch that the gradient covers
};

inline constexpr int kRoundParts = 32;

// `rounds` is rounded up to a multiple of kRoundParts. If factors are kept for a run, each part is
// a different machine.
StragglerRounds sample_rounds(const Redundancy& redundancy, const Jitter& jitter,
                              const std::vector<std::vector<WorkerUnit>>& workers, int rounds);

}  // namespace windtunnel
