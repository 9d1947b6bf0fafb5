#include "scenarios/language/asked_studies.hpp"

#include "models/results/fused_report.hpp"
#include "models/volunteers/volunteers.hpp"
#include "models/workload/rollout.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {
namespace {

using Text = StudyText;

template <class Asked>
bool asks_for(const ValuesByType& asked) {
  return asked.has<Asked>();
}

std::shared_ptr<const PowerSpec> power_with_its_clocks(const Text& in, Job& job) {
  auto power = resolve_power(in.values, in.evidence, job);
  if (power != nullptr) lower_clocks(*power, job);
  return power;
}

constexpr AskedStudy kAskedStudies[] = {
    {"cluster.power", nullptr, asks_for<PowerSpec>,
     [](const Text& in, Job& job, auto& asked) { asked.share(power_with_its_clocks(in, job)); }},
    {"rollout", "engines that generate samples", asks_for<RolloutSpec>,
     [](const Text& in, Job& job, auto& asked) { asked.share(resolve_rollout(in.values, job)); }},
    {"volunteers", "peers that train instead of the cluster's nodes", asks_for<Volunteers>,
     [](const Text& in, Job&, auto& asked) {
       asked.share(resolve_volunteers(in.values, in.files));
     }},
    {"fuse", "jobs that are fused", asks_for<FusedJobs>,
     [](const Text& in, Job&, auto& asked) { asked.share(resolve_fused(in.values)); }}};

}  // namespace

std::span<const AskedStudy> asked_studies() {
  return kAskedStudies;
}

}  // namespace windtunnel
