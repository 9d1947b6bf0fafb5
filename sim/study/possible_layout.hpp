// A layout from which a search over all layouts can start.
#pragma once

#include <optional>

#include "scenarios/language/overrides.hpp"
#include "scenarios/language/text/scenario_text.hpp"

namespace windtunnel {

// Returns the scenario's overrides with some valid layout; nothing if none of those tried is valid,
// so that the fault is not in the layout. Everything else that the scenario says about its layout
// is kept. Forms of tensor parallelism differ in whether they need sequence parallelism.
std::optional<Overrides> possible_layout(const ScenarioText& scenario, const Overrides& point);

}  // namespace windtunnel
