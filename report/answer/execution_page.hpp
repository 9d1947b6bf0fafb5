// The page of `windtunnel execute`: how far the prediction is off, and every rank's tasks as they
// were predicted, with those that ran below them.
#pragma once

#include <string>

#include "validate/accuracy/execution/execution_comparison.hpp"
#include "validate/accuracy/execution/executions.hpp"

namespace windtunnel {

struct ExecutionPageOptions {
  std::size_t max_spans = 60000;  // of the chart; further ranks are left out and the page says so
};

std::string execution_page(const ExecutedPlan& executed, const Executions& executions,
                           const ExecutionComparison& comparison,
                           const ExecutionPageOptions& options = {});

}  // namespace windtunnel
