// A Plan's executions beside their prediction, as tables of consoles and pages.
#pragma once

#include <string>

#include "report/text/table.hpp"
#include "validate/accuracy/execution/execution_comparison.hpp"
#include "validate/accuracy/execution/executions.hpp"

namespace windtunnel {

std::string signed_percent(double share);  // "+1.5 %"

// "links: buckets, computations: waits, collectives: tcp"
std::string ways_text(const ExecutedPlan& executed);

// "ring: 8 ranks, executed 3 times at 1/4 of its times and 1/21 of its bytes (links: ...)"
std::string executions_line(const ExecutedPlan& executed, const Executions& executions);

// The step, each kind of task, each step's end where there are several, each rank's.
TextTable execution_table(const ExecutionComparison& comparison);

}  // namespace windtunnel
