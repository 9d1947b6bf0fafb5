// Which patterns of stragglers M-SGC makes up for (Krishnan, Ebrahimi, Khisti
// 2023, arXiv 2211.13802, the bursty model of section 2): in any W consecutive rounds at most
// lambda different workers straggle, and each of them within B rounds of its first. A master that
// keeps to it waits in a round until those that are still missing fit the pattern.
#pragma once

#include <span>
#include <vector>

#include "models/reliability/stragglers/redundancy.hpp"

namespace windtunnel {

class StragglerWindow {
 public:
  StragglerWindow(int workers, const Redundancy& redundancy);

  // When a round ends that would end at `deadline`, if workers take these times; those that take
  // longer than it are stragglers of the round from then on.
  double close(std::span<const double> times, double deadline);

  // The stragglers of the last round.
  const std::vector<int>& stragglers() const { return rounds_[now_ % rounds_.size()]; }

 private:
  void age();

  int burst_;
  int window_;
  int distinct_;
  long now_ = -1;                         // the round
  std::vector<std::vector<int>> rounds_;  // stragglers of the last W rounds, in turn
  std::vector<int> recent_;               // [worker] rounds of the last W - 1 in which it straggled
  std::vector<int> old_;       // [worker] those among them that are at least B rounds old
  int straggled_ = 0;          // workers that straggled in the last W - 1 rounds
  std::vector<double> fresh_;  // times of the workers that would straggle for the first time
};

}  // namespace windtunnel
