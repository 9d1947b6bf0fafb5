#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

Schedule generate_chimera(const ScheduleRequest&) {
  throw Error("chimera is not written yet");
}

}  // namespace windtunnel
