// A Plan's executions beside their prediction: how far it is off, and every rank's tasks as they
// were predicted, with those that ran below them.
#pragma once

#include <string>

#include "report/text/answer.hpp"
#include "validate/accuracy/execution/executed_plan.hpp"
#include "validate/accuracy/execution/execution_comparison.hpp"

namespace windtunnel {

std::string signed_percent(double share);  // "+1.5 %"

// "links: buckets, computations: waits, collectives: tcp"
std::string ways_text(const ExecutedPlan& executed);

// All figures, and how it was executed.
Json execution_document(const ExecutedPlan& executed, const Executions& executions,
                        const ExecutionComparison& comparison);

struct ExecutionAnswerOptions {
  std::size_t max_spans = 60000;  // of the chart; further ranks are left out and the page says so
};

// What it is made of has to outlive it.
Answer execution_answer(const ExecutedPlan& executed, const Executions& executions,
                        const ExecutionComparison& comparison,
                        const ExecutionAnswerOptions& options = {});

}  // namespace windtunnel
