// The JSON Schema (draft 7) of a scenario, made from the field table.
#pragma once

#include <string>

namespace windtunnel {

std::string scenario_schema();

}  // namespace windtunnel
