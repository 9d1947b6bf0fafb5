// Checks of a model that was read from another program's file: the ranges of a scenario's keys, and
// relations between the numbers.
#pragma once

#include "models/base/error.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

// Throws Error at `where` that names the key of a scenario ("model.heads") for the wrong number.
void check_limits(const TransformerSpec& model, const Location& where);

}  // namespace windtunnel
