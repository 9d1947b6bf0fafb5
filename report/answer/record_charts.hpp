// Charts of a simulated job for the page of a command that found it.
#pragma once

#include <vector>

#include "models/results/record.hpp"
#include "report/answer/answer_page.hpp"

namespace windtunnel {

// Where the step goes, memory of each pipeline rank, where the wall time goes, goodput over the
// interval of snapshots: those that the record has.
std::vector<AnswerChart> record_charts(const Record& record);

}  // namespace windtunnel
