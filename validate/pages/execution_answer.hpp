// Compares a Plan's executions with their prediction: the errors, and every rank's predicted tasks
// with the executed ones below them.
#pragma once

#include <string>

#include "report/text/answer.hpp"
#include "validate/accuracy/execution/executed_plan.hpp"
#include "validate/accuracy/execution/execution_judgement.hpp"

namespace windtunnel {

std::string signed_percent(double share);  // "+1.5 %"

// Returns "links: buckets, computations: waits, collectives: tcp".
std::string ways_text(const ExecutedPlan& executed);

// Returns all figures, and the way of execution.
Json execution_document(const ExecutedPlan& executed, const Executions& executions,
                        const ExecutionComparison& comparison);

struct ExecutionAnswerOptions {
  std::size_t max_spans = 60000;  // of the chart; the page says how many ranks it omits
};

// All arguments must outlive the answer.
Answer execution_answer(const ExecutedPlan& executed, const Executions& executions,
                        const ExecutionComparison& comparison,
                        const ExecutionAnswerOptions& options = {});

}  // namespace windtunnel
