// The tasks of a simulated step, and when each of them ran.
#pragma once

#include <string>
#include <vector>

namespace windtunnel_api {

// What a rank does: a computation, an end of a message, a collective, a copy, an encoding or a
// write. It begins when the tasks that it comes after have ended and its stream is free; a
// collective's wait for its last member is inside of it, and so is a receive's wait for its bytes.
struct TimedTask {
  std::string name;    // "F0.3": forward of stage 0, micro-batch 3
  std::string kind;    // "compute", "send", "recv", "collective", "copy", "encode" or "store"
  std::string stream;  // "compute", "send", "dp": tasks of one run one after the other
  int iteration = 0;
  int stage = -1;       // -1: of none
  int microbatch = -1;  // likewise
  double start_s = 0;
  double end_s = 0;
  double bytes = 0;             // that it moves; of a collective the full buffer
  std::vector<int> after = {};  // places in RankTimeline::tasks
};

struct RankTimeline {
  int rank = 0;
  std::string kind;  // "pp 3": ranks of one kind have equal tasks
  double ranks = 1;  // that behave like this one, itself included
  std::vector<TimedTask> tasks;
};

}  // namespace windtunnel_api
