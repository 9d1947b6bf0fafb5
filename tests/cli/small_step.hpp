// A training step that this machine can run in milliseconds.
#pragma once

#include <string>

namespace windtunnel {

// Writes the scenario and its model into the folder and returns the scenario's path: two layers on
// two ranks.
std::string small_step(const std::string& folder);

}  // namespace windtunnel
