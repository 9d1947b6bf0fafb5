#include "models/cost/op/block_cost.hpp"

#include <algorithm>

#include "models/plan/job_collective.hpp"

namespace windtunnel {

void add_cost(std::vector<CostPart>& parts, Category category, Origin origin, double seconds) {
  if (seconds <= 0) return;
  for (CostPart& part : parts) {
    if (part.category == category && part.origin == origin) {
      part.seconds += seconds;
      return;
    }
  }
  parts.push_back({category, origin, seconds});
}

void add_costs(std::vector<CostPart>& parts, const std::vector<CostPart>& more, double times) {
  for (const CostPart& part : more) {
    add_cost(parts, part.category, part.origin, times * part.seconds);
  }
}

BlockSetting::BlockSetting(const Job& job, const SequenceSlice& slice)
    : job(job),
      slice(slice),
      rows(slice.share() * static_cast<double>(job.batch.micro) * job.batch.sequence /
           job.layout.cp) {}

OpCost BlockSetting::cost(const Op& op) const {
  return op_cost(op, job.cluster.node.gpu, job.precision, job.calibration);
}

double BlockSetting::activation_bytes(double width) const {
  return bytes_of(job.precision) * rows * width;
}

double BlockSetting::operand_bytes(double width) const {
  return gemm_bytes_of(job.precision) * rows * width;
}

CollectiveCost BlockSetting::collective(CollectiveKind kind, const GroupShape& shape,
                                        double bytes) const {
  return collective_cost(job, kind, shape, bytes);
}

double BlockSetting::covered_s(double collective_s, double compute_s) const {
  return std::min(collective_s, (1 + job.calibration.overlap_slowdown.value) * compute_s);
}

double BlockSetting::beside_s(double collective_s, double compute_s) const {
  const double slowdown = job.calibration.overlap_slowdown.value;
  const double hidden_s = covered_s(collective_s, compute_s);
  return collective_s - hidden_s + hidden_s * slowdown / (1 + slowdown);
}

}  // namespace windtunnel
