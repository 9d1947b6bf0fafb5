// Records when tasks ran, and makes the Timeline.
#pragma once

#include <cstdint>
#include <vector>

#include "models/plan/timeline.hpp"
#include "sim/engine/fold.hpp"

namespace windtunnel {

class Recorder {
 public:
  // Ranks are indices into folding.ranks. `recorded_by` names for every rank of the Plan the rank
  // that is recorded for it, because spans of thousands of ranks would fill the memory.
  Recorder(const Plan& plan, const Folding& folding, std::vector<RankId> recorded_by);

  void start(std::int32_t rank, TaskIndex task, double now_s) {
    if (!spans_[rank].empty()) spans_[rank][task].start_s = now_s;
  }
  void end(std::int32_t rank, TaskIndex task, int iteration, double now_s);

  // Moves the spans out. Peak memory is that of this process so far.
  Timeline take_timeline(std::uint64_t events);

 private:
  const Plan& plan_;
  const Folding& folding_;
  const std::vector<RankId> recorded_by_;
  std::vector<std::vector<Span>> spans_;  // [rank][task], empty: not recorded
  std::vector<double> iteration_end_s_;
};

}  // namespace windtunnel
