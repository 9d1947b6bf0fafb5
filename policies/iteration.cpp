#include "policies/iteration.hpp"

#include "models/compression/boundary.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/exchange/exchange_conflicts.hpp"
#include "policies/lengths/length_plan.hpp"

namespace windtunnel {
namespace {

// What depends on how the sequences of a batch are shared out.
struct Strategy {
  void (*check)(const Job&);
  PreparedIteration (*prepare)(const Job&, const SharedGeometry&);
  Plan (*lower)(const Job&, const PreparedIteration&, const IterationPlanOptions&);
  IterationEstimate (*estimate)(const Job&, const PreparedIteration&);
  double (*step_s)(const Job&, const PreparedIteration&);
  LeastIteration (*least)(const Job&);
};

const Strategy& strategy_of(const Job& job) {
  static constexpr Strategy kAlike{
      [](const Job&) {},
      [](const Job& own, const SharedGeometry& known) { return prepare_microbatches(own, known); },
      plan_microbatches,
      estimate_microbatches,
      microbatches_step_s,
      least_microbatches};
  static constexpr Strategy kUnequal{
      check_lengths,
      [](const Job& own, const SharedGeometry& /*known*/) { return prepare_lengths(own); },
      plan_lengths,
      estimate_lengths,
      [](const Job& own, const PreparedIteration& prepared) {
        return estimate_lengths(own, prepared).step_s;
      },
      least_lengths};
  return job.lengths ? kUnequal : kAlike;
}

}  // namespace

PreparedIteration prepare_iteration(const Job& job, const SharedGeometry& geometry) {
  check_gradient_exchange(job);
  check_layout(job.model, job.layout, job.batch, job.cluster.gpus(), job.cluster.node.gpus);
  check_boundary(job);
  check_sequences(job);
  return prepare_checked(job, geometry);
}

PreparedIteration prepare_checked(const Job& job, const SharedGeometry& geometry) {
  return strategy_of(job).prepare(job, geometry);
}

void check_sequences(const Job& job) {
  strategy_of(job).check(job);
}

Plan iteration_plan(const Job& job, const PreparedIteration& prepared,
                    const IterationPlanOptions& options) {
  return strategy_of(job).lower(job, prepared, options);
}

IterationEstimate estimate_iteration(const Job& job, const PreparedIteration& prepared) {
  return strategy_of(job).estimate(job, prepared);
}

double iteration_step_s(const Job& job, const PreparedIteration& prepared) {
  return strategy_of(job).step_s(job, prepared);
}

double repriced_step_s(const Job& job, PreparedIteration& prepared) {
  if (job.lengths) {  // which pack goes where is decided by the costs
    prepared = prepare_iteration(job);
    return iteration_step_s(job, prepared);
  }
  reprice_microbatches(job, prepared);
  return microbatches_step_s(job, prepared);
}

LeastIteration least_iteration(const Job& job) {
  return strategy_of(job).least(job);
}

}  // namespace windtunnel
