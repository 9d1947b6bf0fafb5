#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

Schedule generate_pipedream(const ScheduleRequest&) {
  throw Error("pipedream is not written yet");
}

Schedule generate_pipedream_2bw(const ScheduleRequest&) {
  throw Error("pipedream_2bw is not written yet");
}

}  // namespace windtunnel
