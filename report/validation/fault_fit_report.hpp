// The fit of a log of faults as a table for reading, as JSON, and as the `failures:` of a scenario.
#pragma once

#include <cstddef>
#include <string>

#include "models/reliability/fault_fit.hpp"
#include "report/json/json.hpp"

namespace windtunnel {

std::string fault_fit_text(const FaultLog& log, const FaultFit& fit, std::size_t width = 0);

// Seconds, and shares; {"value", "low", "high"} where there is an interval. null: too few faults.
Json fault_fit_document(const FaultLog& log, const FaultFit& fit);

// YAML of fitted_class(), to be taken over into a scenario. Repairs are read from `repairs_file`;
// empty: none are known.
std::string failures_yaml(const FaultLog& log, const FaultFit& fit,
                          const std::string& repairs_file);

}  // namespace windtunnel
