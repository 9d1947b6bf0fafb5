#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

Schedule generate_pre_recompute_1f1b(const ScheduleRequest&) {
  throw Error("pre_recompute_1f1b is not written yet");
}

Schedule generate_last_no_recompute_1f1b(const ScheduleRequest&) {
  throw Error("last_no_recompute_1f1b is not written yet");
}

Schedule generate_shifted_critical_path(const ScheduleRequest&) {
  throw Error("shifted_critical_path is not written yet");
}

}  // namespace windtunnel
