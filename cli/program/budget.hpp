// Parses a time limit given by the user.
#pragma once

#include <string>

namespace windtunnel {

// The seconds of "3 min". Throws Error that names the option if the text is not a time above 0.
double budget_of(const std::string& text);

}  // namespace windtunnel
