// What is wrong with measured series, as JSON, as text, and as comments of the calibration made of
// them.
#pragma once

#include <span>
#include <string>

#include "report/text/json_text.hpp"
#include "validate/accuracy/samples/sample_faults.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// [{"kind", "severity", "rows": ["file:line"], "what", "advice"}]
Json sample_faults_json(std::span<const SampleFault> faults);

// "sample_faults" of the form of that name: a line each with its first rows, the advice once for
// each kind.
TextTable sample_faults_table(std::span<const SampleFault> faults);
// What the form says of them; empty without faults.
std::string sample_faults_text(std::span<const SampleFault> faults);

// Lines of a YAML file, each after '#'.
std::string sample_faults_comment(std::span<const SampleFault> faults);

}  // namespace windtunnel
