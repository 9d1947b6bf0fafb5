// The generators that the table in policies/schedules/schedules.cpp names, and what they share.
#pragma once

#include <string_view>

#include "policies/schedules/schedules.hpp"

namespace windtunnel {

// Where the stages of a direction lie: chunk c of rank r is
enum class Placement {
  looped,  // stage c * p + r
  vee,     // back and forth: an even c as looped, an odd one stage c * p + (p - 1 - r)
};

// Without actions. `directions` > 1: every other copy of the stages runs over the ranks in reverse
// order.
Schedule empty_schedule(std::string_view name, const ScheduleRequest& request,
                        Placement placement = Placement::looped, int directions = 1);

// Throws Error unless the request has between `least` and `most` chunks per rank.
void require_chunks(std::string_view name, const ScheduleRequest& request, int least, int most);
// Throws Error about that number: "schedule 'NAME' needs NEEDED (layout.vpp)REST".
[[noreturn]] void refuse_chunks(std::string_view name, std::string_view needed,
                                std::string_view rest = "");

// request.costs, or the equal ones that stand for them when there are none. Size p * v (times
// slices where the request has them by slice).
std::vector<StageCost> costs_of(const ScheduleRequest& request);

Schedule generate_gpipe(const ScheduleRequest& request);
Schedule generate_1f1b(const ScheduleRequest& request);
Schedule generate_eager_1f1b(const ScheduleRequest& request);
Schedule generate_interleaved(const ScheduleRequest& request);
Schedule generate_looped_bfs(const ScheduleRequest& request);
Schedule generate_2bp(const ScheduleRequest& request);

Schedule generate_zb_h1(const ScheduleRequest& request);
Schedule generate_zb_h2(const ScheduleRequest& request);
Schedule generate_zb_1p(const ScheduleRequest& request);
Schedule generate_zb_2p(const ScheduleRequest& request);
Schedule generate_zb_auto(const ScheduleRequest& request);

Schedule generate_zb_v(const ScheduleRequest& request);
Schedule generate_v_half(const ScheduleRequest& request);
Schedule generate_v_min(const ScheduleRequest& request);
Schedule generate_hanayo(const ScheduleRequest& request);

Schedule generate_chimera(const ScheduleRequest& request);
Schedule generate_bitpipe(const ScheduleRequest& request);
Schedule generate_dualpipe(const ScheduleRequest& request);
Schedule generate_dualpipev(const ScheduleRequest& request);

Schedule generate_pre_recompute_1f1b(const ScheduleRequest& request);
Schedule generate_last_no_recompute_1f1b(const ScheduleRequest& request);
Schedule generate_shifted_critical_path(const ScheduleRequest& request);

Schedule generate_seq1f1b(const ScheduleRequest& request);
Schedule generate_terapipe(const ScheduleRequest& request);

Schedule generate_pipedream(const ScheduleRequest& request);
Schedule generate_pipedream_2bw(const ScheduleRequest& request);
Schedule generate_zeropp(const ScheduleRequest& request);

}  // namespace windtunnel
