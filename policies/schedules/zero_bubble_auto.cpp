#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

Schedule generate_zb_1p(const ScheduleRequest&) {
  throw Error("zb_1p is not written yet");
}

Schedule generate_zb_2p(const ScheduleRequest&) {
  throw Error("zb_2p is not written yet");
}

Schedule generate_zb_auto(const ScheduleRequest&) {
  throw Error("zb_auto is not written yet");
}

}  // namespace windtunnel
