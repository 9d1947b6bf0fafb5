// What `windtunnel execute` and `windtunnel validate execution` say of a plan that ran.
#pragma once

#include <string>

#include "report/text/json_text.hpp"
#include "validate/accuracy/execution/execution_comparison.hpp"
#include "validate/accuracy/execution/executions.hpp"

namespace windtunnel {

std::string execution_text(const ExecutedPlan& executed, const Executions& executions,
                           const ExecutionComparison& comparison);
Json execution_document(const ExecutedPlan& executed, const Executions& executions,
                        const ExecutionComparison& comparison);

}  // namespace windtunnel
