// What a trace of Record::timeline shows where its end is not the step time that reports print:
// several iterations, one draw of a machine that jitters, or a step without what comes on top.
#pragma once

#include <string>

#include "models/results/record.hpp"

namespace windtunnel {

struct RecordedStep {
  std::string label;     // "draw 3 of 8", for the name of a track
  std::string sentence;  // "it is draw 3 of 8, whose step takes 17.0 s; the mean is 11.1 s"
};

// Both empty where the recorded iteration ends at the step time.
RecordedStep recorded_step(const Record& record);

}  // namespace windtunnel
