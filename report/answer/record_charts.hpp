// Charts of a simulated job for the page of a command that found it.
#pragma once

#include <string>
#include <vector>

#include "models/results/record.hpp"
#include "report/text/answer.hpp"

namespace windtunnel {

// Where the step goes, memory of each pipeline rank, where the wall time goes, goodput over the
// interval of snapshots: those that the record has. `storage_note`: a sentence on how that of the
// tier on storage was chosen. `record` has to outlive them.
std::vector<SummarySection> record_charts(const Record& record,
                                          const std::string& storage_note = "");

}  // namespace windtunnel
