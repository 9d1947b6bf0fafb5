// Which gradients are reduced together, and when the backward pass has them ready.
#pragma once

#include <vector>

#include "models/job.hpp"

namespace windtunnel {

// One reduction of a stage: `parameters` (on one GPU, after tp) whose gradients are complete when
// `ready_share` of the stage's last backward has run. Ascending by ready_share; the last one is 1.
struct GradientBucket {
  double parameters = 0;
  double ready_share = 1;
};

// PyTorch DDP's rule (Li et al., VLDB 2020): tensors in backward order, a bucket closes when it
// holds `bucket_bytes` or more; a tensor is never split. Weight matrices only carry backward time,
// spread in proportion to their parameters, because forward and backward of a GEMM cost 6 FLOPs per
// weight and token.
std::vector<GradientBucket> gradient_buckets(const Job& job, int stage, int layers,
                                             double stage_parameters);

}  // namespace windtunnel
