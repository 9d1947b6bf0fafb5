// Time of a unit of filling work on a GPU of the job: as the scenario states it, or from the cost
// models as the forward pass of a library model on one GPU.
#pragma once

#include "models/plan/job.hpp"
#include "models/workload/filling.hpp"

namespace windtunnel {

struct FillingCost {
  double piece_s = 0;
  int pieces = 1;  // per unit
  double resident_bytes = 0;
  double working_bytes = 0;
  double flops = 0;  // per unit; 0: unknown
  Origin origin = Origin::assumed;
};

// Throws Error if the model cannot run on one GPU of the job.
FillingCost filling_cost(const Job& job, const FillingWork& work);

}  // namespace windtunnel
