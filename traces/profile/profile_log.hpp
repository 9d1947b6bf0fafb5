// The steps of what a profiler recorded as those of a log.
#pragma once

#include <string>

#include "traces/logs/training_log.hpp"

namespace windtunnel {

// A step for each of captured_steps(). Throws Error as read_profile() does, and where nothing in
// the file tells where a step ends.
TrainingLog profile_log(const std::string& path);

}  // namespace windtunnel
