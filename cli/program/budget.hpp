// A time that the user grants.
#pragma once

#include <string>

namespace windtunnel {

// Seconds of "3 min". Throws Error that names the option when it is none, or not above 0.
double budget_of(const std::string& text);

}  // namespace windtunnel
