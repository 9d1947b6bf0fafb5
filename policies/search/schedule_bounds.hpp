// Lower bounds for any order of a synchronous schedule under a memory limit. Every rank has its
// passes, and two waits that it cannot fill because memory is limited:
//   1. from its first forward to its first input gradient, at least the time through later stages.
//      Only forwards can run meanwhile, as many as memory holds (Qi et al., Zero Bubble, arXiv
//      2401.10241, appendix B: (p-1)(T_I + 2 T_c) + (p-k) T_F on the first rank);
//   2. from its last forward to that unit's input gradient, the same time. Only backwards of units
//      in memory can run meanwhile.
// A chain through another rank consists of the path to it, its forwards, input gradients and waits,
// the weight gradients that memory does not allow it to defer, and the path back.
#pragma once

#include <string>
#include <vector>

#include "policies/schedules/schedules.hpp"

namespace windtunnel {

struct ScheduleBound {
  double longest_stage_s = 0;  // max over ranks of last end - first start
  double makespan_s = 0;
  // What determines the two bounds, for example "work of rank 3".
  std::string longest_stage_because;
  std::string makespan_because;
};

// Costs and limit are those of the request (memory_limit 0: none). `rank_of_stage` has the p * v
// stages of one replica. They do not hold if overlapped pairs hide communication.
ScheduleBound schedule_bound(const ScheduleRequest& request, const std::vector<int>& rank_of_stage);

}  // namespace windtunnel
