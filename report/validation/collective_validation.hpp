// Timings of collectives, predicted against measured, as people read them: a table on the console
// and a page of Markdown with the misses.
#pragma once

#include <cstddef>
#include <string>

#include "validate/accuracy/collectives/collective_accuracy.hpp"

namespace windtunnel {

// A line per family, what was fitted, the `worst` points, and why rows were not predicted.
std::string collectives_text(const CollectivesReport& report, int worst, std::size_t width = 0);

// `command` made it. Misses above `miss_above` are listed one by one up to 200 of them, else per
// family with the five largest. Files are named without their folders.
std::string collectives_page(const CollectivesReport& report, const std::string& command,
                             double miss_above = 0.35);

// The networks that were fitted, a line each; empty without any.
std::string networks_text(const CollectivesReport& report, std::size_t width = 0);

}  // namespace windtunnel
