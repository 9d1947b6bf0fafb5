#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

Schedule generate_eager_1f1b(const ScheduleRequest&) {
  throw Error("eager_1f1b is not written yet");
}

Schedule generate_looped_bfs(const ScheduleRequest&) {
  throw Error("looped_bfs is not written yet");
}

Schedule generate_2bp(const ScheduleRequest&) {
  throw Error("2bp is not written yet");
}

}  // namespace windtunnel
