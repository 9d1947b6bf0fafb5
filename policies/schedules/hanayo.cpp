#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

Schedule generate_hanayo(const ScheduleRequest&) {
  throw Error("hanayo is not written yet");
}

}  // namespace windtunnel
