#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

Schedule generate_dualpipe(const ScheduleRequest&) {
  throw Error("dualpipe is not written yet");
}

Schedule generate_dualpipev(const ScheduleRequest&) {
  throw Error("dualpipev is not written yet");
}

}  // namespace windtunnel
