// Adds intervals to predictions that have none, from the errors of all other families. A family
// does not influence its own interval, so its coverage tests it.
#pragma once

#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Gives each row with positive values and no interval a 90 % interval for a row of an unknown
// family: the error's mean square is the mean, over the other families of its metric, of their mean
// squared log(predicted / measured). The number of these families widens the interval
// (error_factor()). No interval unless at least two other families have such rows.
void add_left_out_intervals(ValidationReport& report);

}  // namespace windtunnel
