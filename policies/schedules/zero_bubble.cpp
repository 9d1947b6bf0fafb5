#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

Schedule generate_zb_h1(const ScheduleRequest&) {
  throw Error("zb_h1 is not written yet");
}

Schedule generate_zb_h2(const ScheduleRequest&) {
  throw Error("zb_h2 is not written yet");
}

}  // namespace windtunnel
