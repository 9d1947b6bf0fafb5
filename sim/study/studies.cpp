#include "sim/study/studies.hpp"

#include <fmt/format.h>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/results/fused_report.hpp"
#include "models/volunteers/volunteers.hpp"
#include "models/workload/rollout.hpp"
#include "sim/study/power_study.hpp"
#include "sim/study/rollout/simulate_rollout.hpp"
#include "sim/study/volunteers/fused_study.hpp"
#include "sim/study/volunteers/volunteer_study.hpp"

namespace windtunnel {
namespace {

template <class Asked, auto report_of>
void add_report(const StudyInput& on, ValuesByType& reports) {
  const auto* asked = on.the_case.asked.find<Asked>();
  if (asked != nullptr) reports.set(report_of(on, *asked));
}

VolunteerReport volunteers(const StudyInput& on, const Volunteers& asked) {
  on.tell(fmt::format("simulating volunteers for {}", format_seconds(asked.length_s)));
  return study_volunteers(asked, on.the_case.job, on.prepared, on.threads);
}

FusedReport fused(const StudyInput& on, const FusedJobs& asked) {
  return study_fused(on.the_case.job, on.prepared, asked.most);
}

RolloutReport rollout(const StudyInput& on, const RolloutSpec& asked) {
  on.tell(fmt::format("simulating {} iterations of engines and learner", asked.iterations));
  return simulate_rollout(on.the_case.job, asked, on.iteration, on.campaign);
}

PowerReport power(const StudyInput& on, const PowerSpec& asked) {
  CHECK(on.record != nullptr, "watts are of a simulated Timeline");
  return study_power(asked, *on.record);
}

constexpr Study kStudies[] = {{StudyDepth::campaign, true, add_report<Volunteers, volunteers>},
                              {StudyDepth::step, false, add_report<FusedJobs, fused>},
                              {StudyDepth::campaign, true, add_report<RolloutSpec, rollout>},
                              {StudyDepth::campaign, false, add_report<PowerSpec, power>}};

}  // namespace

std::span<const Study> studies() {
  return kStudies;
}

}  // namespace windtunnel
