// Which ways of exchanging gradients go together: docs/gradients.md, "What goes with what".
#pragma once

#include "models/plan/job.hpp"

namespace windtunnel {

// Throws Error with the reason when overlap, compressor, aggregation and sharding of the job do not
// go together.
void check_gradient_exchange(const Job& job);

}  // namespace windtunnel
