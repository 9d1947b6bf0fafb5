// Rows of other sources (see compression.hpp): predicted from a cluster's fitted law where they
// come from it, else listed with the reason.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "traces/rows/compression_rows.hpp"
#include "validate/accuracy/compression/compression_links.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// `alone_s`: steps on one GPU of the cluster by column model, where a row does not state its own.
void predict_other(const CompressionRun& run, const std::optional<LinkLaw>& law,
                   const std::map<std::string, double>& alone_s, ValidationReport& report);

}  // namespace windtunnel
