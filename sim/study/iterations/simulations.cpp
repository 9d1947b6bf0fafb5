#include "sim/study/iterations/simulations.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "policies/analysis/plan_bound.hpp"
#include "policies/filling/fill_plan.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "sim/engine/engine.hpp"
#include "sim/study/iterations/straggler_step.hpp"

namespace windtunnel {
namespace {

// Returns the seconds by which a step grows with twice as many micro-batches.
double passes_s(const Job& job) {
  const auto step_s = [](const Job& each) {
    const Execution run = run_iteration(each, prepare_checked(each), {}, 0);
    return iteration_s(each, run.plan, run.timeline);
  };
  const Job calm = without_stragglers(job);
  return step_s(with_twice_the_passes(calm)) - step_s(calm);
}

void add_stragglers(const StragglerRule& rule, const Execution& execution, Simulations::Ends& ends,
                    std::optional<StragglerReport>& stragglers, bool plain) {
  const StragglerReport report = rule.report(execution.plan, execution.timeline, ends.iteration_s);
  const double added_s = report.step_s.mean - ends.iteration_s;
  ends.iteration_s += added_s;
  ends.foreground_s += added_s;
  // A step that does not wait for its last replicas ends sooner, but copies of these do not.
  if (ends.snapshot_s > 0) ends.snapshot_s += std::max(0.0, added_s);
  if (plain) stragglers = report;
}

Simulations::Ends ends_of(const Job& job, const Execution& execution, bool saves) {
  const auto& [plan, timeline, filling] = execution;
  const int at = reported_window(job, plan).last;
  return {iteration_s(job, plan, timeline), at > 0 ? foreground_end_s(plan, timeline, at - 1) : 0,
          foreground_end_s(plan, timeline, at), saves ? snapshot_end_s(plan, timeline) : 0};
}

Simulations::Ends mean_of(std::span<const Simulations::Ends> draws) {
  Simulations::Ends sum;
  for (const Simulations::Ends& each : draws) {
    sum.iteration_s += each.iteration_s;
    sum.begin_s += each.begin_s;
    sum.foreground_s += each.foreground_s;
    sum.snapshot_s += each.snapshot_s;
  }
  const auto count = static_cast<double>(draws.size());
  return {sum.iteration_s / count, sum.begin_s / count, sum.foreground_s / count,
          sum.snapshot_s / count};
}

}  // namespace

Execution run_iteration(const Job& job, const PreparedIteration& prepared, std::vector<int> due,
                        int draw) {
  IterationPlanOptions options;
  options.draw = draw;
  options.due_snapshots = std::move(due);
  return run_plan(job, prepared, options);
}

Execution run_plan(const Job& job, const PreparedIteration& prepared,
                   const IterationPlanOptions& options) {
  const auto executed = [&](const Plan& plan) {
    Timeline timeline = execute(plan, job.cluster,
                                {.fold = job.fold,
                                 .calibration = job.calibration,
                                 .pool_calibrations = job.pool_calibrations});
    check_bound(plan, job.cluster, timeline);
    return timeline;
  };
  Execution execution;
  execution.plan = iteration_plan(job, prepared, options);
  execution.timeline = executed(execution.plan);
  if (!job.filling) return execution;
  auto [filled, report] = fill_plan(job, prepared.memory, execution.plan, execution.timeline);
  report.plain_s = iteration_s(job, execution.plan, execution.timeline);
  report.plain_idle = idle_share(execution.plan, execution.timeline,
                                 reported_window(job, execution.plan).last, report.plain_s);
  execution.plan = std::move(filled);
  execution.timeline = executed(execution.plan);
  report.apart_s = report.plain_s;
  for (const FilledWork& work : report.work) {
    if (work.needed) report.apart_s += work.done * work.unit_s / job.layout.ranks();
  }
  report.step_s = iteration_s(job, execution.plan, execution.timeline);
  execution.filling = std::make_shared<const FillingReport>(std::move(report));
  return execution;
}

DrawnIteration run_draws(const Job& job, const PreparedIteration& prepared, int threads) {
  return Simulations(job, prepared).run(threads);
}

Simulations::Simulations(const Job& job, const PreparedIteration& prepared)
    : prepared_(prepared), asked_{{job, {}, nullptr}} {}

std::size_t Simulations::add(Job job, std::vector<int> due,
                             std::shared_ptr<const PreparedIteration> own) {
  asked_.push_back({std::move(job), std::move(due), std::move(own)});
  return asked_.size() - 1;
}

DrawnIteration Simulations::run(int threads) {
  const bool by_rule = by_straggler_rule(asked_.front().job);
  if (by_rule) {
    const Job& plain_job = asked_.front().job;
    const WorkShares shares = work_shares(plain_job, iteration_plan(plain_job, prepared_));
    for (const Asked& each : asked_) rules_.push_back(rule_of(each.job, shares));
    for (Asked& each : asked_) each.job = without_stragglers(each.job);
  }
  const Cluster& cluster = asked_.front().job.cluster;
  const std::size_t draws = cluster.is_drawn() ? cluster.jitter.draws : 1;
  std::vector<Ends> drawn(asked_.size() * draws);
  DrawnIteration plain;
  for_each_index(drawn.size(), threads, [&](std::size_t i) {
    const auto& [job, due, own] = asked_[i / draws];
    Execution execution =
        run_iteration(job, own ? *own : prepared_, due, static_cast<int>(i % draws));
    drawn[i] = ends_of(job, execution, !due.empty());
    if (by_rule) add_stragglers(*rules_[i / draws], execution, drawn[i], plain.stragglers, i == 0);
    if (i == 0 && draws == 1) plain.execution = std::move(execution);
  });
  for (std::size_t i = 0; i < drawn.size(); i += draws) {
    ends_.push_back(mean_of(std::span(drawn).subspan(i, draws)));
  }
  std::vector<double> steps_s;
  for (std::size_t i = 0; i < draws; ++i) steps_s.push_back(drawn[i].iteration_s);
  plain.step_s = draws == 1 && by_rule ? plain.stragglers->step_s : estimate(steps_s);
  if (draws == 1) return plain;
  // Simulated again, because to keep all draws until the mean is known would take too much memory.
  const auto off = [&](double step_s) { return std::abs(step_s - plain.step_s.mean); };
  const auto nearest = std::ranges::min_element(steps_s, {}, off) - steps_s.begin();
  plain.draw = static_cast<int>(nearest);
  plain.execution = run_iteration(asked_.front().job, prepared_, {}, plain.draw);
  return plain;
}

// Jobs with the same workers and slow nodes as the plain job share its rule.
std::shared_ptr<const StragglerRule> Simulations::rule_of(const Job& job,
                                                          const WorkShares& shares) const {
  const Job& plain = asked_.front().job;
  const bool same = job.layout == plain.layout &&
                    std::ranges::equal(job.cluster.slow_nodes, plain.cluster.slow_nodes);
  if (same && !rules_.empty()) return rules_.front();
  return std::make_shared<const StragglerRule>(job, shares, has_load(job) ? passes_s(job) : 0);
}

}  // namespace windtunnel
