// Pipeline ranks that hold the same parameters and therefore sum their gradients, beside the
// data-parallel replicas of each: the two that hold the same stages when a pipeline runs in both
// directions (Chimera, DualPipe), and those of the first and the last stage, which tie their
// embeddings (not where one rank holds both). They meet when all other reductions of both are
// through: Chimera's and DualPipe's codes do so too; what an eager reduction would hide is not
// counted.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/exchange/data_parallel.hpp"

namespace windtunnel {

struct GradientPartner {
  int rank = -1;           // pipeline rank; its own: none
  bool embedding = false;  // the embedding only
  double bytes = 0;        // bytes of a GPU's gradients that are left after its reductions
  // Groups of one GPU of each of the two ranks, by the lower rank.
  StridedGroups groups;
  GroupShape shape;
};

// [pipeline rank]. Throws Error where a stage has more than two ranks, or a rank shares its stages
// with several.
std::vector<GradientPartner> gradient_partners(const Job& job, const Schedule& schedule,
                                               const DataParallel& data);

}  // namespace windtunnel
