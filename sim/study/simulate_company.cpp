#include "sim/study/simulate_company.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/machine/fabrics/job_places.hpp"
#include "models/plan/joined_plan.hpp"
#include "policies/analysis/plan_bound.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "sim/engine/engine.hpp"

namespace windtunnel {
namespace {

// A step is one round of the job's schedule. Without a flush a round has several iterations.
class CompanySteps {
 public:
  // Keeps references to the cases of the company.
  explicit CompanySteps(const Company& company) : company_(company) {
    std::vector<const Cluster*> clusters;
    for (const Case& each : company.jobs) clusters.push_back(&each.job.cluster);
    cluster_ = joined(clusters);
    for (std::size_t j = 0; j < jobs(); ++j) {
      tasks_.push_back(0);
      for (const RankClass& owner : plan_of(j, 1).classes) {
        tasks_.back() += static_cast<double>(owner.tasks.size());
      }
    }
  }

  std::size_t jobs() const { return company_.jobs.size(); }
  const Job& job(std::size_t j) const { return company_.jobs[j].job; }

  // Returns when each step of the job ends if the job runs alone.
  std::vector<double> ends_alone(std::size_t j, int steps) const {
    Plan plan = plan_of(j, steps);
    const Timeline timeline = execute(plan, job(j).cluster, options());
    check_bound(plan, job(j).cluster, timeline);
    return ends(plan, timeline, {0, std::ssize(plan.classes)}, per_step(j), steps);
  }

  StepEnds ends_together(const std::vector<int>& steps, const std::vector<double>& start_s) const {
    std::vector<Plan> plans;
    for (std::size_t j = 0; j < jobs(); ++j) plans.push_back(plan_of(j, steps[j]));
    const JoinedPlan all = joined(std::move(plans), start_s);
    const Timeline timeline = execute(all.plan, cluster_, options());
    check_bound(all.plan, cluster_, timeline);
    StepEnds result;
    for (std::size_t j = 0; j < jobs(); ++j) {
      result.push_back(ends(all.plan, timeline, {all.first_class[j], all.first_class[j + 1]},
                            per_step(j), steps[j]));
    }
    return result;
  }

  // Whether `steps` of each job can be simulated within seconds, in some hundred MB, and are few
  // enough for Task::iteration.
  bool can_simulate(const std::vector<double>& steps) const {
    constexpr double kMostTasks = 2e6;
    double tasks = 0;
    for (std::size_t j = 0; j < jobs(); ++j) {
      tasks += steps[j] * tasks_[j];
      if (steps[j] * per_step(j) > std::numeric_limits<decltype(Task::iteration)>::max()) {
        return false;
      }
    }
    return tasks <= kMostTasks;
  }

 private:
  struct Classes {
    std::ptrdiff_t begin = 0;
    std::ptrdiff_t end = 0;
  };

  int per_step(std::size_t j) const { return company_.jobs[j].prepared->schedule.iterations; }

  Plan plan_of(std::size_t j, int steps) const {
    return iteration_plan(job(j), *company_.jobs[j].prepared, {.iterations = steps});
  }

  EngineOptions options() const {
    EngineOptions options;
    // resolve_company() checks that jobs have the same calibrations. On pools only groups across
    // pools use `calibration`, so it is that of a job on several pools.
    options.calibration = job(0).calibration;
    options.pool_calibrations = job(0).pool_calibrations;
    for (const Case& each : company_.jobs) {
      const std::vector<bool> used = pools_in_use(each.job.cluster);
      if (std::ranges::count(used, true) > 1) options.calibration = each.job.calibration;
    }
    options.fold = FoldMode::exact;  // samples may err by more than jobs affect each other
    for (const Case& each : company_.jobs) {
      if (each.job.fold == FoldMode::none) options.fold = FoldMode::none;
    }
    return options;
  }

  static std::vector<double> ends(const Plan& plan, const Timeline& timeline, Classes classes,
                                  int per_step, int steps) {
    std::vector<double> result(steps, 0);
    for (const RankTimeline& rank : timeline.ranks) {
      if (rank.rank_class < classes.begin || rank.rank_class >= classes.end) continue;
      const std::vector<Task>& tasks = plan.classes[rank.rank_class].tasks;
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        double& end_s = result[tasks[t].iteration / per_step];
        end_s = std::max(end_s, rank.spans[t].end_s);
      }
    }
    return result;
  }

  const Company& company_;
  Cluster cluster_;
  std::vector<double> tasks_;  // [job] number of tasks in one step
};

double steady_step_s(const std::vector<double>& ends) {
  return (ends.back() - ends.front()) / static_cast<double>(ends.size() - 1);
}

// Simulates one start. Returns the steps of all jobs while all of them run.
std::vector<StepsInWindow> steps_of_start(const CompanySteps& steps,
                                          const std::vector<double>& alone_s,
                                          const std::vector<double>& start_s) {
  constexpr int kTries = 5;
  const auto longest = std::ranges::max_element(alone_s) - alone_s.begin();
  // The first step of the longest job does not count, nor does anything that others do before it
  // has ended.
  double horizon_s = (kCompanySteps + 2) * alone_s[longest];
  std::vector<double> stretch(steps.jobs(), 1);
  for (int tried = 0; tried < kTries; ++tried) {
    std::vector<double> wanted(steps.jobs());
    for (std::size_t j = 0; j < steps.jobs(); ++j) {
      wanted[j] = std::ceil(horizon_s / (alone_s[j] * stretch[j])) + 1;
    }
    if (!steps.can_simulate(wanted)) {
      throw Error(
          fmt::format("the steps of {} and {} differ too much in length: {:.0f} of the shorter "
                      "during one of the longer are more than can be simulated",
                      format_seconds(*std::ranges::min_element(alone_s)),
                      format_seconds(alone_s[longest]), *std::ranges::max_element(wanted)));
    }
    const std::vector<int> count(wanted.begin(), wanted.end());
    const StepEnds ends = steps.ends_together(count, start_s);
    const CommonWindow window = common_window(ends);
    std::vector<StepsInWindow> counted;
    for (const std::vector<double>& of_job : ends) counted.push_back(steps_in(window, of_job));
    const bool enough = std::ranges::all_of(
        counted, [](const StepsInWindow& each) { return each.steps >= kCompanySteps; });
    if (enough) return counted;
    for (std::size_t j = 0; j < steps.jobs(); ++j) {
      stretch[j] = std::max(1.0, steady_step_s(ends[j]) / alone_s[j]);
    }
    horizon_s = (kCompanySteps + 2) * alone_s[longest] * stretch[longest] * (1 + 0.25 * tried);
  }
  CHECK(false, "the jobs do not run beside one another for {} steps", kCompanySteps);
}

// Returns when each job begins: the first at once, the others a fraction of a step later.
std::vector<double> start_of(int start, const std::vector<double>& alone_s) {
  constexpr double kGolden = 0.6180339887498949;  // spreads the starts of further jobs
  std::vector<double> start_s(alone_s.size(), 0);
  for (std::size_t j = 1; j < alone_s.size(); ++j) {
    const double share = (start + 0.5) / kCompanyStarts + static_cast<double>(j - 1) * kGolden;
    start_s[j] = (share - std::floor(share)) * alone_s[j];
  }
  return start_s;
}

void add_company(const Company& company, int threads, CompanyReport& report) {
  const CompanySteps steps(company);
  std::vector<double> alone_s(steps.jobs());
  for_each_index(steps.jobs(), threads, [&](std::size_t j) {
    alone_s[j] = steady_step_s(steps.ends_alone(j, 1 + kCompanySteps));
  });
  std::vector<std::vector<StepsInWindow>> together(kCompanyStarts);
  for_each_index(together.size(), threads, [&](std::size_t start) {
    together[start] = steps_of_start(steps, alone_s, start_of(static_cast<int>(start), alone_s));
  });
  report.starts = kCompanyStarts;
  for (std::size_t j = 0; j < steps.jobs(); ++j) {
    CompanyJob& job = report.jobs[j];
    job.slowdown = 0;
    for (const std::vector<StepsInWindow>& start : together) {
      const double slowdown = start[j].step_s / alone_s[j];
      const bool first = job.slowdown == 0;
      job.least_slowdown = first ? slowdown : std::min(job.least_slowdown, slowdown);
      job.most_slowdown = first ? slowdown : std::max(job.most_slowdown, slowdown);
      job.steps = first ? start[j].steps : std::min(job.steps, start[j].steps);
      job.slowdown += slowdown / kCompanyStarts;
    }
  }
}

}  // namespace

CompanyReport simulate_company(const Company& company, const SimulateOptions& options) {
  CompanyReport report;
  report.scenario = company.scenario;
  report.key = company.key;
  report.placement = company.placement;
  report.nodes = company.nodes;
  for (const Case& each : company.jobs) {
    Case alone = each;
    if (alone.job.fold == FoldMode::automatic) alone.job.fold = FoldMode::exact;
    if (std::exchange(alone.job.campaign.length_s, 0) > 0) {
      alone.notes.push_back({"campaign", "a campaign of a job among others is not simulated"});
    }
    report.jobs.push_back({.alone = simulate(alone, options)});
  }
  if (report.jobs.size() == 1) return report;
  if (options.progress) {
    options.progress(fmt::format("simulating {} jobs side by side", report.jobs.size()));
  }
  add_company(company, options.threads, report);
  return report;
}

}  // namespace windtunnel
