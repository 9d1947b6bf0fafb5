// The fit of logs of faults as an answer, and as the `failures:` of a scenario.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/reliability/fault_fit.hpp"
#include "report/text/answer.hpp"

namespace windtunnel {

struct FittedLog {
  FaultLog log;
  FaultFit fit;
};

// A table for each log. The document has seconds and shares, with {"value", "low", "high"} for an
// interval; null: too few faults. `logs` must outlive the answer.
Answer fault_fit_answer(const std::string& file, const std::vector<FittedLog>& logs);

// YAML of fitted_class() for each kind of fault of a cluster, to be copied into a scenario. Repairs
// of nodes are read from `repairs_file`; empty: none are known.
std::string failures_yaml(std::span<const FittedLog> kinds, const std::string& repairs_file);

}  // namespace windtunnel
