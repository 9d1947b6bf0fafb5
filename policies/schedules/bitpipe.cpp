#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

Schedule generate_bitpipe(const ScheduleRequest&) {
  throw Error("bitpipe is not written yet");
}

}  // namespace windtunnel
