// The tasks of a simulated step, and when each of them ran.
#pragma once

#include <string>
#include <vector>

namespace windtunnel_api {

// A task of a rank: a computation, the sending or receiving of a message, a collective, a copy, an
// encoding or a write. It begins when its predecessors have ended and its stream is free. A
// collective includes the wait for its last member, a receive the wait for its bytes.
struct TimedTask {
  std::string name;    // "F0.3": forward of stage 0, micro-batch 3
  std::string kind;    // "compute", "send", "recv", "collective", "copy", "encode" or "store"
  std::string stream;  // "compute", "send", "dp": tasks of a stream run one after the other
  int iteration = 0;
  int stage = -1;       // -1: none
  int microbatch = -1;  // -1: none
  double start_s = 0;
  double end_s = 0;
  double bytes = 0;             // bytes moved; collective: the full buffer
  std::vector<int> after = {};  // predecessors: indices into RankTimeline::tasks
};

struct RankTimeline {
  int rank = 0;
  std::string kind;  // "pp 3": ranks of one kind have equal tasks
  double ranks = 1;  // number of ranks that behave like this one, including itself
  std::vector<TimedTask> tasks;
};

}  // namespace windtunnel_api
