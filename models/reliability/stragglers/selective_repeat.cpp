#include "models/reliability/stragglers/selective_repeat.hpp"

#include <algorithm>

namespace windtunnel {

SelectiveRepeat::SelectiveRepeat(int workers, const Redundancy& redundancy)
    : coded_(coded_stragglers(redundancy)), lacking_(redundancy.burst), repeats_(workers) {}

double SelectiveRepeat::close(std::span<const double> times, double deadline) {
  std::vector<int>& lacking = lacking_[now_++ % lacking_.size()];
  std::ranges::fill(repeats_, 0);
  double end = deadline;
  for (std::size_t i = 0; i + coded_ < lacking.size(); ++i) {
    repeats_[lacking[i]] = 1;
    end = std::max(end, times[lacking[i]]);
  }
  lacking.clear();
  for (std::size_t worker = 0; worker < times.size(); ++worker) {
    if (times[worker] > end || repeats_[worker] != 0) lacking.push_back(static_cast<int>(worker));
  }
  return end;
}

}  // namespace windtunnel
