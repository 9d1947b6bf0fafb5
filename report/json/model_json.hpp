// A model of the library or of a run in JSON documents.
#pragma once

#include "models/plan/job.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

struct Value;

// {name, parameters, active_parameters, layers, hidden, ...}.
Json model_json(const TransformerSpec& model);
// A table of layers: {name, parameters, layers, forward_macs, kept_elements, source}.
Json model_json(const LayerTable& network);
// The transformer or the table that the job trains.
Json model_json(const Job& job);

// This is a flag, a whole number or a number in base units, by the type of the value's row.
Json plain_json(const Value& value);

}  // namespace windtunnel
