#include "models/power/power_curve.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

enum class Doing { nothing, computing, communicating };

Doing doing_of(Category category) {
  switch (category) {
    case Category::forward:
    case Category::backward:
    case Category::recompute:
    case Category::optimizer:
    case Category::compression:
    case Category::filling:
      return Doing::computing;
    case Category::tp:
    case Category::cp:
    case Category::pp:
    case Category::ep:
    case Category::dp:
    case Category::sync:
      return Doing::communicating;
    case Category::snapshot:
    case Category::offload:
    case Category::wait:
    case Category::host:
    case Category::input:
      return Doing::nothing;
  }
  return Doing::nothing;
}

}  // namespace

Activity task_activity(const Task& task, double span_s) {
  Activity shares;
  const bool of_gpu = task.kind == TaskKind::compute || task.kind == TaskKind::encode ||
                      task.kind == TaskKind::send || task.kind == TaskKind::collective;
  if (!of_gpu || span_s <= 0) return shares;
  const auto add = [&](Category category, double seconds) {
    const Doing doing = doing_of(category);
    if (doing == Doing::computing) shares.computing += seconds;
    if (doing == Doing::communicating) shares.communicating += seconds;
  };
  for (const CostPart& part : task.cost) add(part.category, part.seconds);
  const double known_s = total_seconds(task.cost);
  add(task.category, std::max(0.0, span_s - known_s));
  const double whole_s = std::max(span_s, known_s);
  return {shares.computing / whole_s, shares.communicating / whole_s};
}

std::vector<ActivityStep> activity_steps(const RankClass& rank_class, const RankTimeline& rank) {
  std::vector<ActivityStep> changes;
  for (TaskIndex t = 0; t < std::ssize(rank_class.tasks); ++t) {
    const Span& span = rank.spans[t];
    const Activity own = task_activity(rank_class.tasks[t], span.end_s - span.start_s);
    if (own.computing == 0 && own.communicating == 0) continue;
    changes.push_back({span.start_s, own});
    changes.push_back({span.end_s, {-own.computing, -own.communicating}});
  }
  std::ranges::stable_sort(changes, {}, &ActivityStep::at_s);
  std::vector<ActivityStep> steps;
  Activity now;
  for (const auto& [at_s, change] : changes) {
    now.computing += change.computing;
    now.communicating += change.communicating;
    if (steps.empty() || steps.back().at_s != at_s) steps.push_back({at_s, {}});
    steps.back().activity = now;
  }
  return steps;
}

PowerCurve gpu_curve(const PowerSpec& spec, const NodePower& node,
                     const std::vector<ActivityStep>& steps) {
  PowerCurve curve{{0, gpu_watts(spec, node, 0)}};
  for (const auto& [at_s, now] : steps) {
    const double W = gpu_watts(spec, node, activity_of(spec, now.computing, now.communicating));
    if (curve.back().at_s == at_s) {
      curve.back().W = W;
    } else if (curve.back().W != W) {
      curve.push_back({at_s, W});
    }
  }
  return curve;
}

PowerCurve sum_of(const std::vector<CountedCurve>& curves, double constant_W) {
  PowerCurve changes;
  double start_W = constant_W;
  for (const auto& [curve, count] : curves) {
    start_W += count * curve->front().W;
    for (std::size_t i = 1; i < curve->size(); ++i) {
      changes.push_back({(*curve)[i].at_s, count * ((*curve)[i].W - (*curve)[i - 1].W)});
    }
  }
  if (curves.size() > 1) std::ranges::stable_sort(changes, {}, &PowerStep::at_s);
  PowerCurve sum{{0, start_W}};
  double now_W = start_W;
  for (const PowerStep& change : changes) {
    now_W += change.W;
    if (sum.back().at_s != change.at_s) sum.push_back({change.at_s, now_W});
    sum.back().W = now_W;
  }
  return sum;
}

PowerRange range_of(const PowerCurve& curve, double from_s, double to_s) {
  CHECK(to_s > from_s, "power from {} s to {} s", from_s, to_s);
  PowerRange range{.least_W = std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double until_s = i + 1 < curve.size() ? curve[i + 1].at_s : to_s;
    const double span_s = std::min(until_s, to_s) - std::max(curve[i].at_s, from_s);
    if (span_s <= 0) continue;
    range.energy_J += span_s * curve[i].W;
    range.peak_W = std::max(range.peak_W, curve[i].W);
    range.least_W = std::min(range.least_W, curve[i].W);
  }
  range.mean_W = range.energy_J / (to_s - from_s);
  return range;
}

}  // namespace windtunnel
