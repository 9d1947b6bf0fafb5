// A learning-rate schedule from a CSV file of the user with the columns step and rate, in the order
// of the steps: sync's period may follow it (models/plan/sync_rule.hpp).
#pragma once

#include <string>
#include <vector>

#include "models/plan/sync_rule.hpp"

namespace windtunnel {

// `file` is its name in messages. At least two rows. Throws Error with file:line:column.
std::vector<LearningRate> parse_learning_rates(const std::string& text, const std::string& file);

}  // namespace windtunnel
