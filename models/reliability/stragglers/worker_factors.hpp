// The slowdown factor of each worker in each round: that of its slowest GPU or node, by the
// machine's jitter and its slow nodes. Computed in blocks of rounds that fit into a cache; the
// numbers do not depend on the block length.
#pragma once

#include <span>
#include <vector>

#include "models/machine/jitter.hpp"

namespace windtunnel {

// A GPU or node of a worker. A unit shared by several workers has one number.
struct WorkerUnit {
  int unit = 0;
  double slowdown = 1;  // by a slow node
};

class WorkerFactors {
 public:
  WorkerFactors(const Jitter& jitter, const std::vector<std::vector<WorkerUnit>>& units,
                int draw = 0);

  int workers() const { return static_cast<int>(ends_.size()); }
  std::span<const double> next_round();  // [worker] valid until the next call

 private:
  void fill();

  static constexpr int kBlock = 64;  // rounds

  std::vector<FactorStream> streams_;  // [unit]
  std::vector<double> slow_;           // [unit]
  std::vector<std::size_t> ends_;      // [worker] end of its units
  std::vector<double> block_;          // [round][worker]
  int at_ = kBlock;
};

// `workers` workers of `units` units each, numbered in order, none of them slow.
std::vector<std::vector<WorkerUnit>> alike_workers(int workers, int units);

}  // namespace windtunnel
