#include "models/cost/op/block_cost.hpp"

#include <utility>

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

InnerCollective BlockSetting::collective(InnerGroup group, CollectiveKind kind,
                                         const GroupShape& shape, double bytes) const {
  return inner_collective(group, kind, shape, bytes,
                          collective_cost(job, axis_of(group), kind, shape, bytes));
}

InnerCollective inner_collective(InnerGroup group, CollectiveKind kind, const GroupShape& shape,
                                 double bytes, const CollectiveCost& cost) {
  return {.group = group,
          .kind = kind,
          .choice = {cost.algorithm, cost.protocol},
          .bytes = bytes,
          .seconds = cost.seconds,
          .transfer_s = cost.transfer_s,
          .origin = cost.origin,
          .in_node = shape.nodes == 1};
}

void BlockPass::add(InnerRound round) const {
  std::erase_if(round.collectives,
                [](const InnerCollective& collective) { return collective.seconds <= 0; });
  if (round.collectives.empty()) return;
  const double exposed = exposed_s(round);
  add_cost(parts, round.category, round.origin, exposed);
  if (round.into_next_layer) {
    add_cost(end, round.category, round.origin, collectives_s(round) - exposed);
  }
  rounds.push_back(std::move(round));
}

}  // namespace windtunnel
