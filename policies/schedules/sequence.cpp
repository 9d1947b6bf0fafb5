// Schedules of sequence slices. A slice's attention sees the slices before it, so forwards go
// through the slices of a micro-batch upwards and backwards downwards. Under a causal mask slices
// of equal length take unequal times.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/schedules/alternation.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

double work_s(const StageCost& cost) {
  return cost.forward_s + cost.recompute_s + cost.backward_s();
}

// Returns shares of the sequence whose slices take equally long. A pass up to share x is assumed to
// take a x + b x^2: what each token takes by itself, and with the tokens before it. The sum of the
// slices' times does not depend on the shares, so sum t + (p - 1) max t (TeraPipe) is least if all
// t are equal. `costs` are those of slices of equal length. On the slowest stage, a and b follow
// from their sum and from the excess of the last one over the first. Lengths are not rounded to
// tokens. Empty: equal shares.
std::vector<double> balanced_shares(const std::vector<StageCost>& costs, int slices) {
  if (slices == 1 || costs.empty()) return {};
  CHECK(costs.size() % slices == 0, "{} costs of stages in {} slices", costs.size(), slices);
  double total_s = 0;
  double square_s = 0;  // b
  for (auto stage = costs.begin(); stage != costs.end(); stage += slices) {
    double sum_s = 0;
    for (auto slice = stage; slice != stage + slices; ++slice) sum_s += work_s(*slice);
    if (sum_s <= total_s) continue;
    total_s = sum_s;
    const double excess_s = work_s(*(stage + slices - 1)) - work_s(*stage);
    square_s = excess_s * slices * slices / (2.0 * (slices - 1));
  }
  const double linear_s = total_s - square_s;
  if (square_s <= 1e-12 * total_s || linear_s < 0) return {};
  std::vector<double> shares;
  double before = 0;
  for (int slice = 1; slice <= slices; ++slice) {
    const double wanted_s = total_s * slice / slices;
    const double end =
        2 * wanted_s / (linear_s + std::sqrt(linear_s * linear_s + 4 * square_s * wanted_s));
    shares.push_back(end - before);
    before = end;
  }
  return shares;
}

// Returns the unit of the nth backward: those of a micro-batch's slices run in reverse order.
int nth_backward(int n, int slices) {
  return n / slices * slices + slices - 1 - n % slices;
}

std::vector<Action> backwards_of(int stage, const Schedule& schedule) {
  std::vector<Action> backwards;
  for (int n = 0; n < schedule.units(); ++n) {
    backwards.emplace_back(ActionKind::backward, stage, nth_backward(n, schedule.slices));
  }
  return backwards;
}

// Interleaved 1F1B (classic.cpp) with slices instead of micro-batches: groups of p slices pass
// through a chunk together.
void append_interleaved(Schedule& schedule, int chunks) {
  const int ranks = schedule.ranks;
  const int units = schedule.units();
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<Action> forwards;
    std::vector<Action> backwards;
    for (int low = 0; low < units; low += ranks) {
      const int high = std::min(low + ranks, units);
      for (int chunk = 0; chunk < chunks; ++chunk) {
        const int last = (chunks - 1 - chunk) * ranks + rank;
        for (int n = low; n < high; ++n) {
          forwards.emplace_back(ActionKind::forward, chunk * ranks + rank, n);
          backwards.emplace_back(ActionKind::backward, last, nth_backward(n, schedule.slices));
        }
      }
    }
    const int warm_up = 2 * (ranks - rank - 1) + (chunks - 1) * ranks + schedule.slices - 1;
    append_alternating(forwards, backwards, warm_up, schedule.actions[rank]);
  }
}

void require_slices_fill(const Schedule& schedule, int chunks) {
  try {
    const std::size_t costs = static_cast<std::size_t>(schedule.stages()) * schedule.slices;
    evaluate_schedule(schedule, std::vector<StageCost>(costs), 0);
  } catch (const Error&) {
    throw Error::about(
        {"schedule.slices", "batch.global", "schedule"},
        "schedule '{}' deadlocks with {} micro-batches of {} slices on {} pipeline ranks of {} "
        "chunks: groups of {} slices pass through a chunk together; make the slices a divisor "
        "of "
        "the ranks and the micro-batches a multiple of them",
        schedule.name, schedule.microbatches, schedule.slices, schedule.ranks, chunks,
        schedule.ranks);
  }
}

}  // namespace

// The order is that of MayDomine/Seq1F1B: megatron/core/pipeline_parallel/schedules.py and
// split_solver.py (slices of equal FLOPs).
Schedule generate_seq1f1b(const ScheduleRequest& request) {
  Schedule schedule = empty_schedule("seq1f1b", request);
  schedule.slice_shares = balanced_shares(request.costs, request.slices);
  if (request.chunks > 1) {
    append_interleaved(schedule, request.chunks);
    require_slices_fill(schedule, request.chunks);
    return schedule;
  }
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const int warm_up = schedule.ranks - rank - 2 + schedule.slices;
    append_alternating(actions_of(ActionKind::forward, rank, schedule.units()),
                       backwards_of(rank, schedule), warm_up, schedule.actions[rank]);
  }
  return schedule;
}

Schedule generate_terapipe(const ScheduleRequest& request) {
  require_chunks("terapipe", request, 1, 1);
  Schedule schedule = empty_schedule("terapipe", request);
  schedule.slice_shares = balanced_shares(request.costs, request.slices);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    auto& actions = schedule.actions[rank];
    actions = actions_of(ActionKind::forward, rank, schedule.units());
    for (int unit = schedule.units() - 1; unit >= 0; --unit) {
      actions.emplace_back(ActionKind::backward, rank, unit);
    }
  }
  return schedule;
}

}  // namespace windtunnel
