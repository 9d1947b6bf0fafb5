// What measured rows call models, and the model of the library that each is:
// scenarios/library/model_names.yaml, and the library's own names.
#pragma once

#include <string>

#include "models/workload/transformer.hpp"

namespace windtunnel {

// The longest name that stands somewhere in the text, whatever is between its letters and digits.
// Where two differ by the point of a number, the text's own points decide. Throws Error where the
// text names none.
const TransformerSpec& model_named(const std::string& text);

}  // namespace windtunnel
