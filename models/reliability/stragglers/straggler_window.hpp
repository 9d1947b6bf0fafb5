// Which patterns of stragglers M-SGC tolerates (Krishnan, Ebrahimi, Khisti 2023, arXiv 2211.13802,
// the bursty model of section 2): in any W consecutive rounds at most lambda different workers
// straggle, and each of them only within B rounds of its first. The master waits in each round
// until the workers still missing fit the pattern.
#pragma once

#include <span>
#include <vector>

#include "models/reliability/stragglers/redundancy.hpp"

namespace windtunnel {

class StragglerWindow {
 public:
  StragglerWindow(int workers, const Redundancy& redundancy);

  // The end of a round that would end at `deadline`, given the workers' times. Workers that take
  // longer than the returned time are stragglers of the round.
  double close(std::span<const double> times, double deadline);

  // The stragglers of the last round.
  const std::vector<int>& stragglers() const { return rounds_[now_ % rounds_.size()]; }

 private:
  void age();

  int burst_;
  int window_;
  int distinct_;
  long now_ = -1;                         // the round
  std::vector<std::vector<int>> rounds_;  // [round mod W] stragglers of the last W rounds
  std::vector<int> recent_;    // [worker] number of the last W - 1 rounds in which it straggled
  std::vector<int> old_;       // [worker] those of them that are at least B rounds old
  int straggled_ = 0;          // workers that straggled in the last W - 1 rounds
  std::vector<double> fresh_;  // times of the workers that would be new stragglers
};

}  // namespace windtunnel
