// What of a job stands in the way of laying parts of it beside its GPUs' memory.
#pragma once

#include <string>

#include "models/cost/offload/offload.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// Naming the key that is in the way; empty: it can be.
std::string why_not(const Offload& offload, const Job& job);

}  // namespace windtunnel
