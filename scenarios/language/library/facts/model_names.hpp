// Names of models in measured rows, and the library's model for each:
// scenarios/library/model_names.yaml, and the library's own names.
#pragma once

#include <string>

#include "models/workload/transformer.hpp"

namespace windtunnel {

// Finds the longest name that occurs in the text, ignoring all characters except letters and
// digits. If two names differ only in a decimal point, the points in the text decide; nullptr: the
// text names no model.
const TransformerSpec* model_called(const std::string& text);

// The same; throws Error if the text names no model.
const TransformerSpec& model_named(const std::string& text);

}  // namespace windtunnel
