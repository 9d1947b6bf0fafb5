// What a model that another program wrote down must fulfil: the ranges of a scenario's keys, and
// what its numbers must have in common.
#pragma once

#include "models/base/error.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

// Throws Error at `where` that names the key of the scenario ("model.heads") which would say so.
void check_limits(const TransformerSpec& model, const Location& where);

}  // namespace windtunnel
