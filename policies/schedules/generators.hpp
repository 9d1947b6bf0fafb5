// The generators that policies/schedules/schedules.cpp lists, and what they have in common.
#pragma once

#include <string_view>

#include "policies/schedules/schedules.hpp"

namespace windtunnel {

// Where the stages of a direction are. The value says which stage chunk c of rank r is.
enum class Placement {
  looped,  // stage c * p + r
  vee,     // back and forth: even c as in looped, odd c stage c * p + (p - 1 - r)
};

// Returns a schedule without actions. `directions` > 1: every second copy of the stages has the
// ranks in reverse order.
Schedule empty_schedule(std::string_view name, const ScheduleRequest& request,
                        Placement placement = Placement::looped, int directions = 1);

// Throws Error unless the request has between `least` and `most` chunks per rank.
void require_chunks(std::string_view name, const ScheduleRequest& request, int least, int most);
// Throws Error about the number of chunks: "schedule 'NAME' needs NEEDED (layout.vpp)REST".
[[noreturn]] void refuse_chunks(std::string_view name, std::string_view needed,
                                std::string_view rest = "");

// Returns request.costs, or equal default costs if there are none. There are p * v (times slices,
// if the request has costs by slice).
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
