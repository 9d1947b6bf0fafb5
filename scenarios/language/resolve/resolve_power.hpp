// What a job draws (cluster.power), and clocks under a cap.
#pragma once

#include <memory>

#include "models/plan/job.hpp"
#include "models/power/power_spec.hpp"
#include "scenarios/language/text/evidence.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// Null: the scenario does not ask. Of a job whose cluster and calibrations are resolved. Throws
// Error where the watts of a GPU are not known, or a cap is below what it idles at.
std::shared_ptr<const PowerSpec> resolve_power(const Values& values, const EvidenceList& evidence,
                                               const Job& job);
// Kernels that are bound by arithmetic reach clock_under_cap() of their rate; those bound by
// memory, whose clock stays, do not change.
void lower_clocks(const PowerSpec& power, Job& job);
// The same where node.power_limit_W is below the GPU's data sheet, by the law of the cap's
// defaults. Throws Error where the watts of the GPU are not known, or the limit is none that it
// has.
void limit_clocks(const NodeSpec& node, Calibration& calibration);

}  // namespace windtunnel
