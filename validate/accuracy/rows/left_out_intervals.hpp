// Intervals for predictions that have none of their own: how far those of all other families were
// off. A family never tells its own interval, so its coverage is a test of it.
#pragma once

#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Gives each row without an interval, and with positive values, one of 90 %: as far as a row of an
// unknown family may be off, whose error has the mean square, over the other families of its
// metric, of each one's mean squared log(predicted / measured). So many families tell it, which
// widens the interval (error_factor()). None where no two other families have such rows.
void add_left_out_intervals(ValidationReport& report);

}  // namespace windtunnel
