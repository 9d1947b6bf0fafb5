#include "models/reliability/stragglers/worker_factors.hpp"

#include <algorithm>
#include <array>

namespace windtunnel {

WorkerFactors::WorkerFactors(const Jitter& jitter,
                             const std::vector<std::vector<WorkerUnit>>& units, int draw) {
  for (const std::vector<WorkerUnit>& own : units) {
    for (const auto& [unit, slowdown] : own) {
      streams_.emplace_back(jitter, unit, draw);
      slow_.push_back(slowdown);
    }
    ends_.push_back(slow_.size());
  }
  block_.resize(ends_.size() * kBlock);
}

std::span<const double> WorkerFactors::next_round() {
  if (at_ == kBlock) fill();
  return std::span(block_).subspan(ends_.size() * at_++, ends_.size());
}

void WorkerFactors::fill() {
  at_ = 0;
  std::array<double, kBlock> own{};
  std::ranges::fill(block_, 0);
  std::size_t unit = 0;
  for (std::size_t worker = 0; worker < ends_.size(); ++worker) {
    for (; unit < ends_[worker]; ++unit) {
      streams_[unit].next(own);
      for (int round = 0; round < kBlock; ++round) {
        double& slowest = block_[round * ends_.size() + worker];
        slowest = std::max(slowest, own[round] * slow_[unit]);
      }
    }
  }
}

std::vector<std::vector<WorkerUnit>> alike_workers(int workers, int units) {
  std::vector<std::vector<WorkerUnit>> all(workers);
  int next = 0;
  for (std::vector<WorkerUnit>& own : all) {
    for (int unit = 0; unit < units; ++unit) own.push_back({next++, 1});
  }
  return all;
}

}  // namespace windtunnel
