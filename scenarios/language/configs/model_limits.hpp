// Checks a model that was read from another program's file: its numbers must be in the ranges of a
// scenario's keys and fit each other.
#pragma once

#include "models/base/error.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

// Throws Error at `where` that names the scenario's key ("model.heads") for the wrong number.
void check_limits(const TransformerSpec& model, const Location& where);

}  // namespace windtunnel
