// A model as documents have it: of the library, and of a run.
#pragma once

#include "models/plan/job.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

struct Value;

// {name, parameters, active_parameters, layers, hidden, ...}.
Json model_json(const TransformerSpec& model);
// A table of layers: {name, parameters, layers, forward_macs, kept_elements, source}.
Json model_json(const LayerTable& network);
// Whichever of them the job trains.
Json model_json(const Job& job);

// A flag, a whole number or a number in base units, as its row has it.
Json plain_json(const Value& value);

}  // namespace windtunnel
