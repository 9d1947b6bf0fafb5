// Jobs that are fused on one GPU: a section of the summary.
#pragma once

#include "report/summary/summary.hpp"

namespace windtunnel {

SummarySection fused_section(const Record& record);  // which has them

}  // namespace windtunnel
