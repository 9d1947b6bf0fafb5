// Pipeline ranks that hold the same parameters and therefore sum gradients, besides those of
// replicas. They are the two ranks with the same stages when a pipeline runs in both directions
// (Chimera, DualPipe), and those of the first and the last stage with tied embeddings (unless one
// rank holds both). This sum starts when all other reductions of both ranks are complete, as in
// Chimera's and DualPipe's code. An earlier sum, which could be hidden, is not modelled.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/exchange/data_parallel.hpp"

namespace windtunnel {

struct GradientPartner {
  int rank = -1;           // pipeline rank with the same parameters; the rank itself: none
  bool embedding = false;  // only the embedding is shared
  double bytes = 0;        // gradient bytes of a GPU that are still to be summed
  // Groups of one GPU from each of the two ranks. Only the lower rank has them.
  StridedGroups groups;
  GroupShape shape;
};

// Returns the partner of each pipeline rank. Throws Error if a stage is on more than two ranks, or
// a rank shares its stages with several ranks.
std::vector<GradientPartner> gradient_partners(const Job& job, const Schedule& schedule,
                                               const DataParallel& data);

}  // namespace windtunnel
