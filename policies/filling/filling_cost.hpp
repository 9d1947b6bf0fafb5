// What a unit of work that fills idle time takes on a GPU of the job, as stated or by the cost
// models: the forward pass of a model of the library on one GPU.
#pragma once

#include "models/plan/job.hpp"
#include "models/workload/filling.hpp"

namespace windtunnel {

struct FillingCost {
  double piece_s = 0;
  int pieces = 1;  // of a unit
  double resident_bytes = 0;
  double working_bytes = 0;
  double flops = 0;  // of a unit; 0: not known
  Origin origin = Origin::assumed;
};

// Throws Error where the model cannot run on one GPU of the job.
FillingCost filling_cost(const Job& job, const FillingWork& work);

}  // namespace windtunnel
