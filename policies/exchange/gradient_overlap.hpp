// Which gradients of a stage are reduced together, when the backward pass completes them, and in
// which order they are sent.
#pragma once

#include <span>
#include <vector>

#include "policies/exchange/gradient_tensors.hpp"

namespace windtunnel {

// A bucket: `parameters` that are reduced together. Their gradients are complete when `ready_share`
// of the backward has run.
struct GradientBucket {
  double parameters = 0;
  double ready_share = 1;
  bool expert = false;
  std::vector<int> tensors = {};  // ascending
};

// PyTorch DDP's rule (Li et al., VLDB 2020), also used by Megatron-LM: tensors are added in
// backward order, and a bucket closes when it holds at least `bucket_bytes`, the first one
// `first_bucket_bytes` (0: `bucket_bytes`). A tensor is never split. Experts have separate buckets,
// because their replicas differ. The result ascends by ready_share, and the last is 1. `bytes`:
// [tensor] on the network. With buckets of 0 bytes every tensor is a bucket: wait-free
// backpropagation (Zhang et al. 2017, arXiv 1706.03292).
std::vector<GradientBucket> gradient_buckets(const std::vector<StageTensor>& tensors,
                                             std::span<const double> bytes, double bucket_bytes,
                                             double first_bucket_bytes = 0);
std::vector<GradientBucket> gradient_buckets(const std::vector<StageTensor>& tensors,
                                             double bytes_per_parameter, double bucket_bytes);

// Returns for each tensor its share of all parameters in these buckets.
std::vector<double> tensor_shares(const std::vector<StageTensor>& tensors,
                                  const std::vector<GradientBucket>& buckets);

// A reduction of s bytes takes alpha_s + beta_s * s.
struct ReductionLaw {
  double alpha_s = 0;
  double beta_s = 0;
};

// MG-WFBP (Shi, Chu, Li 2019, arXiv 1811.11141, and its published code). In backward order, the
// next tensor joins a bucket of fewer than 8192 elements. It joins a larger one only if it is ready
// before the bucket's reduction would end, and either before this could start or less than alpha
// later. The backward takes `backward_s`. `laws`: of dense parameters, and of experts, which have a
// separate stream.
std::vector<GradientBucket> merged_buckets(const std::vector<StageTensor>& tensors,
                                           std::span<const double> bytes, double backward_s,
                                           std::span<const ReductionLaw, 2> laws);

// ByteScheduler (Peng et al., SOSP 2019) and P3 (Jayarajan et al. 2019, arXiv 1905.03960): of the
// ready partitions, the one that the next forward pass needs first is sent first. Up to
// `credit_bytes` of partitions, at least one, are in flight and cannot be overtaken.
struct Partition {
  double ready_s = 0;
  double seconds = 0;  // of its reduction
  double bytes = 0;
};
struct ScheduledPartition {
  int partition = 0;
  double issued_s = 0;
};
// Returns the partitions in the order of sending. Later ones in `partitions` are more urgent.
std::vector<ScheduledPartition> priority_order(const std::vector<Partition>& partitions,
                                               double credit_bytes);

}  // namespace windtunnel
