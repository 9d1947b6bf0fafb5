// Charts of a simulated job for the page of a command that found the job.
#pragma once

#include <string>
#include <vector>

#include "models/results/record.hpp"
#include "report/text/answer.hpp"

namespace windtunnel {

// Charts of the step's parts, memory of each pipeline rank, the parts of the wall time, and goodput
// over the interval of snapshots, if the record has them. `storage_note` says how the interval of
// the tier on storage was chosen. `record` must outlive the sections.
std::vector<SummarySection> record_charts(const Record& record,
                                          const std::string& storage_note = "");

}  // namespace windtunnel
