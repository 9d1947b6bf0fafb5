// Times in which a campaign does not train although nothing failed: evaluation and logging. Each
// comes before an iteration of a fixed number, so that a run begun again pauses where the first
// did.
#pragma once

#include <cstdint>

namespace windtunnel {

struct TrainingPause {
  std::int64_t every_iterations = 0;
  double every_s = 0;  // in its place: of training, rounded to iterations of the whole job; 0: none
  double takes_s = 0;
  bool operator==(const TrainingPause&) const = default;
};

struct TrainingPauses {
  TrainingPause evaluation;
  TrainingPause logging;
};

}  // namespace windtunnel
