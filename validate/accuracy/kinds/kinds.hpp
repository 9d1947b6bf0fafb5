// The kinds of measured_kinds(), each in a file of its own: a row of a table, not a registration.
#pragma once

#include "validate/accuracy/kinds/measured_kind.hpp"

namespace windtunnel {

MeasuredKind checkpoint_kind();
MeasuredKind dispatch_kind();
MeasuredKind rollout_kind();
MeasuredKind power_kind();
MeasuredKind failure_kind();

}  // namespace windtunnel
