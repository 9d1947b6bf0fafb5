// What volunteers make of a job: sections of the summary, columns of a comparison.
#pragma once

#include <vector>

#include "report/summary/comparison.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

struct Figure;

// None where the record has none.
std::vector<SummarySection> volunteer_sections(const Record& record);

// Those of the figures that some point of a comparison has.
std::vector<const Figure*> volunteer_columns(const Comparison& comparison);

}  // namespace windtunnel
