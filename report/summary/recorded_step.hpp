// Explains a trace (Record::timeline) whose end differs from the reported step time: it has several
// iterations, one draw of jitter, or a step without additions.
#pragma once

#include <string>

#include "models/results/record.hpp"

namespace windtunnel {

struct RecordedStep {
  std::string label;     // "draw 3 of 8", for the name of a track
  std::string sentence;  // "it is draw 3 of 8, whose step takes 17.0 s; the mean is 11.1 s"
};

// Both texts are empty if the recorded iteration ends at the step time.
RecordedStep recorded_step(const Record& record);

}  // namespace windtunnel
