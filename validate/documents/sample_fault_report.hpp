// The faults of measured series as JSON, as text, and as comments in a calibration made from them.
#pragma once

#include <span>
#include <string>

#include "report/text/json_text.hpp"
#include "validate/accuracy/samples/sample_faults.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// Returns [{"kind", "severity", "rows": ["file:line"], "what", "advice"}].
Json sample_faults_json(std::span<const SampleFault> faults);

// The part "sample_faults" of the form of that name: a line per fault with its first rows, and the
// advice once per kind.
TextTable sample_faults_table(std::span<const SampleFault> faults);
// The text of the form; empty without faults.
std::string sample_faults_text(std::span<const SampleFault> faults);

// These are lines of a YAML file, each with a leading '#'.
std::string sample_faults_comment(std::span<const SampleFault> faults);

}  // namespace windtunnel
