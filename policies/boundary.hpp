// A message between neighbouring pipeline ranks on an idle network.
#pragma once

#include "models/job.hpp"

namespace windtunnel {

// From pipeline rank `from` to the next one, the last one to 0. All ranks of a stage send at once,
// so those behind one NIC share it.
double boundary_s(const Job& job, int from, double bytes);

}  // namespace windtunnel
