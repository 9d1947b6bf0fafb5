#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

Schedule generate_seq1f1b(const ScheduleRequest&) {
  throw Error("seq1f1b is not written yet");
}

Schedule generate_terapipe(const ScheduleRequest&) {
  throw Error("terapipe is not written yet");
}

}  // namespace windtunnel
