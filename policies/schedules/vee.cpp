#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

Schedule generate_zb_v(const ScheduleRequest&) {
  throw Error("zb_v is not written yet");
}

Schedule generate_v_half(const ScheduleRequest&) {
  throw Error("v_half is not written yet");
}

Schedule generate_v_min(const ScheduleRequest&) {
  throw Error("v_min is not written yet");
}

}  // namespace windtunnel
