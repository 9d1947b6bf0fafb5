// The report on gradient exchange, as JSON and as a document.
#pragma once

#include "report/json/json.hpp"
#include "validate/accuracy/compression/compression.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// validation_json() and {"laws": [text], "order": {"pairs", "right", "all_reduce_pairs",
// "all_reduce_right", "wrong": [text]}, "crossovers": [{"method", "fitted", "measured_bytes",
// "predicted_bytes"}]}; null: never.
Json compression_json(const CompressionValidation& validation);

// Has the `worst` judged rows; the page has all with an error above 10 %.
Document compression_document(const CompressionValidation& validation, int worst);

}  // namespace windtunnel
