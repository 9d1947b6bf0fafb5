#include "policies/analysis/rank_step.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/plan/plan.hpp"
#include "models/results/iteration_report.hpp"

namespace windtunnel {
namespace {

bool computes(const Task& task) {
  return task.kind == TaskKind::compute || task.kind == TaskKind::encode;
}

bool communicates(const Task& task) {
  return task.kind == TaskKind::collective || task.kind == TaskKind::send ||
         task.kind == TaskKind::recv;
}

bool is_inner(Category category) {
  return category == Category::tp || category == Category::cp || category == Category::ep;
}

double length_of(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::start_s);
  double length_s = 0;
  double until_s = 0;
  for (const Span& span : spans) {
    length_s += std::max(0.0, span.end_s - std::max(span.start_s, until_s));
    until_s = std::max(until_s, span.end_s);
  }
  return length_s;
}

}  // namespace

RankStep rank_step(const Job& job, const Plan& plan, const Timeline& timeline, double step_s,
                   RankId rank) {
  CHECK(rank >= 0 && rank < plan.ranks, "rank {} of {}", rank, plan.ranks);
  const RankTimeline& recorded = timeline.ranks[timeline.recorded_as[rank]];
  const RankClass& owner = plan.classes[recorded.rank_class];
  const int iteration = reported_window(job, plan).last;
  RankStep step{.step_s = step_s};
  std::vector<Span> passes, messages, all;
  std::set<std::pair<int, int>> batches;  // stage, micro-batch
  for (std::size_t t = 0; t < owner.tasks.size(); ++t) {
    const Task& task = owner.tasks[t];
    if (task.iteration != iteration) continue;
    if (computes(task)) {
      passes.push_back(recorded.spans[t]);
      all.push_back(recorded.spans[t]);
      if (task.action && task.stage >= 0) batches.emplace(task.stage, task.microbatch);
      for (const CostPart& part : task.cost) {
        if (part.category == Category::wait) continue;  // idle: it waits for another rank
        (part.category == Category::host ? step.host_s
         : is_inner(part.category)       ? step.inside_s
                                         : step.compute_s) += part.seconds;
        if (part.category == Category::optimizer) step.optimizer_s += part.seconds;
      }
    } else if (communicates(task) && task.category != Category::snapshot) {
      all.push_back(recorded.spans[t]);
      messages.push_back(recorded.spans[t]);
    }
  }
  step.outside_s = length_of(all) - length_of(passes);
  const double hidden_s = length_of(messages) - step.outside_s;
  step.hidden_s = hidden_s > 1e-9 * step_s ? hidden_s : 0;  // less is an error of rounding
  const double counted_s = step.compute_s + step.inside_s + step.outside_s + step.host_s;
  step.idle_s = std::max(0.0, step_s - counted_s);
  const std::vector<KernelSeconds> stages = kernel_seconds(job);
  for (const auto& [stage, batch] : batches) {
    if (stage < std::ssize(stages)) step.kernels = step.kernels + stages[stage];
  }
  return step;
}

}  // namespace windtunnel
