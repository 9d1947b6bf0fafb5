#include "policies/gradient_overlap.hpp"

#include <array>

namespace windtunnel {

std::vector<GradientBucket> gradient_buckets(const std::vector<StageTensor>& tensors,
                                             double bytes_per_parameter, double bucket_bytes) {
  std::vector<GradientBucket> buckets;
  std::array<double, 2> open{};  // parameters of the bucket that is being filled: dense, experts
  double done = 0;
  for (const StageTensor& tensor : tensors) {
    done += tensor.work;
    double& parameters = open[tensor.expert];
    parameters += tensor.parameters;
    if (parameters * bytes_per_parameter < bucket_bytes) continue;
    buckets.push_back({parameters, done, tensor.expert});
    parameters = 0;
  }
  for (const bool expert : {true, false}) {
    if (open[expert] > 0) buckets.push_back({open[expert], 1, expert});
  }
  if (!buckets.empty()) buckets.back().ready_share = 1;
  return buckets;
}

}  // namespace windtunnel
