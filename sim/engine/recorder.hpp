// Notes when tasks ran and makes the Timeline of it.
#pragma once

#include <cstdint>
#include <vector>

#include "models/timeline.hpp"
#include "sim/engine/fold.hpp"

namespace windtunnel {

class Recorder {
 public:
  // Ranks are indices into folding.ranks. Unless `every_rank`, only the first of each class is
  // recorded: an unfolded run of thousands of ranks would fill the memory.
  Recorder(const Plan& plan, const Folding& folding, bool every_rank);

  void start(std::int32_t rank, TaskIndex task, double now_s) {
    if (first_span_[rank] >= 0) spans_[first_span_[rank] + task].start_s = now_s;
  }
  void end(std::int32_t rank, TaskIndex task, int iteration, double now_s);

  // Peak memory is that of this process so far.
  Timeline timeline(std::uint64_t events) const;

 private:
  const Plan& plan_;
  const Folding& folding_;
  std::vector<std::int64_t> first_span_;  // [rank], -1: not recorded
  std::vector<Span> spans_;
  std::vector<double> iteration_end_s_;
};

}  // namespace windtunnel
