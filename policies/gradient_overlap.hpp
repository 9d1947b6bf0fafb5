// Which gradients of a stage are reduced together, and when the backward pass has them ready.
#pragma once

#include <vector>

#include "policies/gradient_tensors.hpp"

namespace windtunnel {

// One reduction of a stage: `parameters` whose gradients are complete when `ready_share` of the
// backward has run.
struct GradientBucket {
  double parameters = 0;
  double ready_share = 1;
  bool expert = false;
};

// PyTorch DDP's rule (Li et al., VLDB 2020), which Megatron-LM follows: tensors in backward order,
// a bucket closes when it holds `bucket_bytes` or more; a tensor is never split. Experts, which
// have replicas of their own, have buckets of their own. Ascending by ready_share; the last is 1.
std::vector<GradientBucket> gradient_buckets(const std::vector<StageTensor>& tensors,
                                             double bytes_per_parameter, double bucket_bytes);

}  // namespace windtunnel
