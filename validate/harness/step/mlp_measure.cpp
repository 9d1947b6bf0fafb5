#include "validate/harness/step/mlp_measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/base/random.hpp"
#include "models/calibration/slowdown.hpp"
#include "validate/harness/collectives/tcp_collectives.hpp"
#include "validate/harness/ranks/own_core.hpp"

namespace windtunnel {
namespace {

constexpr int kWarmUp = 10;
constexpr int kTold = 5;  // of them, the last, tell how long a step takes
constexpr int kLeast = 20;
constexpr int kMost = 5000;
constexpr double kFewDisturbed = 0.05;  // of a step's time
constexpr std::size_t kLeastQuiet = 10;

std::vector<float> normal_numbers(std::size_t size, std::uint64_t which) {
  RandomStream random(1, RandomPurpose::measurement, which);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

// Enough to fill the budget, as rank 0 saw the last half of the warm-up.
int planned_steps(Collectives& collectives, MlpStep& step, double budget_s) {
  double seconds = 0;
  for (int i = 0; i < kWarmUp; ++i) {
    const double step_s = step.run().total();
    if (i >= kWarmUp - kTold) seconds += step_s / kTold;
  }
  int steps = static_cast<int>(std::clamp<double>(budget_s / seconds, kLeast, kMost));
  collectives.broadcast(reinterpret_cast<std::byte*>(&steps), sizeof steps, 0);
  return steps;
}

// [rank][step], on all ranks.
std::vector<std::vector<StepSeconds>> gathered(Collectives& collectives,
                                               const std::vector<StepSeconds>& own) {
  std::vector<std::vector<StepSeconds>> all;
  for (int rank = 0; rank < collectives.ranks(); ++rank) {
    std::vector<StepSeconds> theirs = own;
    collectives.broadcast(reinterpret_cast<std::byte*>(theirs.data()),
                          theirs.size() * sizeof(StepSeconds), rank);
    all.push_back(std::move(theirs));
  }
  return all;
}

// Share of its time beside others, on the rank that they disturbed most.
double disturbed_share(const std::vector<std::vector<StepSeconds>>& ranks, std::size_t step) {
  double most = 0;
  for (const std::vector<StepSeconds>& rank : ranks) {
    most = std::max(most, rank[step].disturbed / rank[step].total());
  }
  return most;
}

double seconds_of_slowest(const std::vector<std::vector<StepSeconds>>& ranks, std::size_t step) {
  double slowest = 0;
  for (const std::vector<StepSeconds>& rank : ranks)
    slowest = std::max(slowest, rank[step].total());
  return slowest;
}

// Leaves the steps that were hardly disturbed, or where these are few, those that were least. What
// was seen at the ends of phases picks them, so that it is no measure of them: how much longer the
// others took tells how many of these had others beside them all the same.
std::vector<std::vector<StepSeconds>> quiet_steps(
    const std::vector<std::vector<StepSeconds>>& ranks, MeasuredStep& measured) {
  const std::size_t steps = ranks.front().size();
  std::vector<std::pair<double, std::size_t>> by_share;
  double all_share = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    by_share.emplace_back(disturbed_share(ranks, i), i);
    all_share += by_share.back().first / static_cast<double>(steps);
  }
  std::ranges::sort(by_share);
  std::vector<std::vector<StepSeconds>> quiet(ranks.size());
  std::vector<double> counted_s;
  std::vector<double> other_s;
  for (const auto& [share, step] : by_share) {
    const bool counts = share <= kFewDisturbed || counted_s.size() < kLeastQuiet;
    (counts ? counted_s : other_s).push_back(seconds_of_slowest(ranks, step));
    if (!counts) continue;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      quiet[rank].push_back(ranks[rank][step]);
    }
  }
  measured.all_steps = static_cast<int>(steps);
  measured.disturbed = all_share;
  if (other_s.empty()) return quiet;
  measured.disturbed =
      share_of_rest(all_share, static_cast<double>(other_s.size()) / static_cast<double>(steps),
                    std::log(median(other_s) / median(counted_s)));
  return quiet;
}

void summarise_steps(const std::vector<std::vector<StepSeconds>>& all, MeasuredStep& measured) {
  const std::vector<std::vector<StepSeconds>> ranks = quiet_steps(all, measured);
  const std::size_t steps = ranks.front().size();
  std::vector<double> slowest(steps);
  std::vector<double> waiting(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    slowest[i] = seconds_of_slowest(ranks, i);
    double least = ranks.front()[i].of(StepPhase::communicate);
    double mean = 0;
    for (const std::vector<StepSeconds>& rank : ranks) {
      const double communicate_s = rank[i].of(StepPhase::communicate);
      least = std::min(least, communicate_s);
      mean += communicate_s / static_cast<double>(ranks.size());
    }
    waiting[i] = mean - least;
  }
  for (std::size_t phase = 0; phase < kStepPhases.size(); ++phase) {
    std::vector<double> means(steps);
    for (std::size_t i = 0; i < steps; ++i) {
      for (const std::vector<StepSeconds>& rank : ranks) {
        means[i] += rank[i].by_phase[phase] / static_cast<double>(ranks.size());
      }
    }
    measured.phases.by_phase[phase] = median(means);
  }
  measured.waiting_s = median(waiting);
  measured.steps = static_cast<int>(steps);
  measured.step = summarise(slowest, 1);
}

}  // namespace

MeasuredStep measure_mlp_step(const MlpPlan& plan, double budget_s) {
  if (plan.ranks > usable_cores()) {
    throw Error(
        fmt::format("{} ranks need a core each, and this process may run on {}; set "
                    "layout.dp to that, and nodes and GPUs of the cluster",
                    plan.ranks, usable_cores()));
  }
  MeasuredStep measured;
  run_ranks(plan.ranks, [&](TcpGroup& group) {
    const OwnCore core(group.rank(), group.ranks());
    TcpCollectives collectives(group);
    MlpStep step(plan, device(DeviceKind::cpu), collectives);
    const auto rows = static_cast<std::size_t>(plan.rank_batch);
    const auto place = static_cast<std::uint64_t>(group.rank());
    step.set_batch(
        normal_numbers(rows * static_cast<std::size_t>(plan.layers.front().inputs), 2 * place + 10),
        normal_numbers(rows * static_cast<std::size_t>(plan.layers.back().outputs),
                       2 * place + 11));
    std::vector<StepSeconds> own(
        static_cast<std::size_t>(planned_steps(collectives, step, budget_s)));
    for (StepSeconds& seconds : own) seconds = step.run();
    const auto all = gathered(collectives, own);
    if (group.rank() > 0) return;
    summarise_steps(all, measured);
    measured.work = step.work();
  });
  return measured;
}

}  // namespace windtunnel
