// Measured against predicted exchange of gradients: as JSON, on the console, and as a page.
#pragma once

#include <cstddef>
#include <string>

#include "report/json/json.hpp"
#include "validate/accuracy/compression/compression.hpp"

namespace windtunnel {

// validation_document() and {"laws": [text], "order": {"pairs", "right", "all_reduce_pairs",
// "all_reduce_right", "wrong": [text]}, "crossovers": [{"method", "fitted", "measured_bytes",
// "predicted_bytes"}]}; null: never.
Json compression_document(const CompressionValidation& validation);

// With the `worst` judged rows of the largest error.
std::string compression_text(const CompressionValidation& validation, int worst,
                             std::size_t width = 0);

// `command` made it. Files are named without their folders.
std::string compression_page(const CompressionValidation& validation, const std::string& command);

}  // namespace windtunnel
