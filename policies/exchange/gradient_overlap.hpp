// Which gradients of a stage are reduced together, when the backward pass has them ready, and in
// which order they go.
#pragma once

#include <span>
#include <vector>

#include "policies/exchange/gradient_tensors.hpp"

namespace windtunnel {

// One reduction of a stage: `parameters` whose gradients are complete when `ready_share` of the
// backward has run.
struct GradientBucket {
  double parameters = 0;
  double ready_share = 1;
  bool expert = false;
  std::vector<int> tensors = {};  // ascending
};

// PyTorch DDP's rule (Li et al., VLDB 2020), which Megatron-LM follows: tensors in backward order,
// a bucket closes when it holds `bucket_bytes` or more, the first one when it holds
// `first_bucket_bytes` (0: as the others); a tensor is never split. Experts, which have replicas of
// their own, have buckets of their own. Ascending by ready_share; the last is 1. `bytes`: [tensor]
// on the network. With buckets of 0 bytes every tensor goes alone: wait-free backpropagation (Zhang
// et al. 2017, arXiv 1706.03292).
std::vector<GradientBucket> gradient_buckets(const std::vector<StageTensor>& tensors,
                                             std::span<const double> bytes, double bucket_bytes,
                                             double first_bucket_bytes = 0);
std::vector<GradientBucket> gradient_buckets(const std::vector<StageTensor>& tensors,
                                             double bytes_per_parameter, double bucket_bytes);

// Each tensor's share of all that these hold.
std::vector<double> tensor_shares(const std::vector<StageTensor>& tensors,
                                  const std::vector<GradientBucket>& buckets);

// A reduction of s bytes takes alpha_s + beta_s * s.
struct ReductionLaw {
  double alpha_s = 0;
  double beta_s = 0;
};

// MG-WFBP (Shi, Chu, Li 2019, arXiv 1811.11141, and its published code): in backward order a bucket
// takes the next tensor in, if that one is ready before the bucket's reduction would end and either
// before it could start or less than alpha after that; and if the bucket has fewer than 8192
// elements. The backward takes `backward_s`. `laws`: of dense parameters, of experts, which have a
// channel of their own.
std::vector<GradientBucket> merged_buckets(const std::vector<StageTensor>& tensors,
                                           std::span<const double> bytes, double backward_s,
                                           std::span<const ReductionLaw, 2> laws);

// ByteScheduler (Peng et al., SOSP 2019) and P3 (Jayarajan et al. 2019, arXiv 1905.03960): a
// channel takes of the partitions that are ready the one that the next forward pass needs first. It
// has partitions of up to `credit_bytes` under way, at least one, which nothing overtakes.
struct Partition {
  double ready_s = 0;
  double seconds = 0;  // of its reduction
  double bytes = 0;
};
struct ScheduledPartition {
  int partition = 0;
  double issued_s = 0;
};
// In the order in which they are sent. The later in the list, the more urgent.
std::vector<ScheduledPartition> priority_order(const std::vector<Partition>& partitions,
                                               double credit_bytes);

}  // namespace windtunnel
