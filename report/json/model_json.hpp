// A model as documents have it: of the library, and of a run.
#pragma once

#include "models/plan/job.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

// {name, parameters, active_parameters, layers, hidden, ...}.
Json model_json(const TransformerSpec& model);
// A table of layers: {name, parameters, layers, forward_macs, kept_elements, source}.
Json model_json(const LayerTable& network);
// Whichever of them the job trains.
Json model_json(const Job& job);

}  // namespace windtunnel
