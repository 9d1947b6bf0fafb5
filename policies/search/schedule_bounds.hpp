// What no order of a synchronous schedule can beat under a memory limit. Every rank has its work,
// and two waits that memory does not let it fill:
//   1. from its first forward to its first input gradient, at least the way through the stages
//      behind; only forwards fit in, as many as memory holds (Qi et al., Zero Bubble, arXiv
//      2401.10241, appendix B: (p-1)(T_I + 2 T_c) + (p-k) T_F on the first rank);
//   2. from its last forward to the input gradient of it, the same way; only the backwards of what
//      memory held then fit in.
// A chain through another rank counts the way to it, its forwards, input gradients, waits, and the
// weight gradients that memory did not let it defer, and the way back.
#pragma once

#include <string>
#include <vector>

#include "policies/schedules/schedules.hpp"

namespace windtunnel {

struct ScheduleBound {
  double longest_stage_s = 0;  // max over ranks of last end - first start
  double makespan_s = 0;
  // What decides them: "work of rank 3".
  std::string longest_stage_because;
  std::string makespan_because;
};

// Costs and limit are those of the request (memory_limit 0: none); `rank_of_stage` has the p * v
// stages of one replica. Not for schedules with overlapped pairs that hide communication.
ScheduleBound schedule_bound(const ScheduleRequest& request, const std::vector<int>& rank_of_stage);

}  // namespace windtunnel
