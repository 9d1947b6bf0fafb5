// Rows of other sources (see compression.hpp): predicted from a cluster's fitted law where they
// come from it, else listed with the reason.
#pragma once

#include <optional>

#include "traces/compression_runs.hpp"
#include "validate/accuracy/compression_links.hpp"
#include "validate/accuracy/validation_report.hpp"

namespace windtunnel {

void predict_other(const CompressionRun& run, const std::optional<LinkLaw>& law,
                   ValidationReport& report);

}  // namespace windtunnel
