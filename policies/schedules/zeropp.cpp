#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

Schedule generate_zeropp(const ScheduleRequest&) {
  throw Error("zeropp is not written yet");
}

}  // namespace windtunnel
