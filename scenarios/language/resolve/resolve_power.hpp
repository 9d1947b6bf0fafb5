// The watts of a job (cluster.power), and clocks under a power cap.
#pragma once

#include <memory>

#include "models/plan/job.hpp"
#include "models/power/power_spec.hpp"
#include "scenarios/language/text/evidence.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// Null if the scenario does not ask for watts. The cluster and calibrations of the job must be
// resolved. Throws Error if the watts of a GPU are not known, or if a cap is below its idle watts.
std::shared_ptr<const PowerSpec> resolve_power(const Values& values, const EvidenceList& evidence,
                                               const Job& job);
// Scales the rate of kernels that are bound by arithmetic by clock_under_cap(). Kernels bound by
// memory do not change, because the memory keeps its clock.
void lower_clocks(const PowerSpec& power, Job& job);
// The same for a node.power_limit_W below the GPU's data sheet, with the default law of a cap.
// Throws Error if the watts of the GPU are not known, or if the GPU cannot have the limit.
void limit_clocks(const NodeSpec& node, Calibration& calibration);

}  // namespace windtunnel
