// Times in which a campaign does not train although nothing failed: evaluation and logging. Pauses
// are tied to iteration numbers, so a restarted run pauses where the first one did.
#pragma once

#include <cstdint>

namespace windtunnel {

struct TrainingPause {
  std::int64_t every_iterations = 0;
  // instead of every_iterations: training time, rounded to iterations of the whole job; 0: none
  double every_s = 0;
  double takes_s = 0;
  bool operator==(const TrainingPause&) const = default;
};

struct TrainingPauses {
  TrainingPause evaluation;
  TrainingPause logging;
};

}  // namespace windtunnel
