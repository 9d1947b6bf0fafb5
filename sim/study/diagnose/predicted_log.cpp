#include <algorithm>
#include <limits>

#include "models/results/record.hpp"
#include "sim/study/diagnose/diagnose.hpp"

namespace windtunnel {
namespace {

bool is_forward(const Task& task) {
  return task.action == ActionKind::forward;
}

bool is_backward(const Task& task) {
  using enum ActionKind;
  return task.action == backward || task.action == backward_input ||
         task.action == backward_weight || task.action == recompute;
}

// Returns least and largest time over the recorded ranks; nothing if no rank has such a task.
std::optional<LoggedValue> busy(const Record& record, int iteration, bool (*counts)(const Task&)) {
  LoggedValue over{std::numeric_limits<double>::infinity(), 0};
  for (const RankTimeline& rank : record.timeline.ranks) {
    const RankClass& of = record.plan.classes[rank.rank_class];
    double seconds = 0;
    for (std::size_t i = 0; i < of.tasks.size(); ++i) {
      const Task& task = of.tasks[i];
      if (task.kind != TaskKind::compute || task.iteration != iteration || !counts(task)) continue;
      seconds += rank.spans[i].end_s - rank.spans[i].start_s;
    }
    over = {std::min(over.low, seconds), std::max(over.high, seconds)};
  }
  if (over.high <= 0) return {};
  return over;
}

double stall_of(const Record& record) {
  if (!record.campaign || record.campaign->tiers.empty()) return 0;
  return record.campaign->tiers.front().stall_s;
}

}  // namespace

PredictedLog predicted_log(const Record& record) {
  const IterationReport& step = record.iteration;
  PredictedLog log{.step_s = step.time_s, .stall_s = stall_of(record), .parts = {}};
  for (const GpuMemory& memory : step.memory) {
    log.allocated_bytes = std::max(log.allocated_bytes, memory.allocated());
    log.reserved_bytes = std::max(log.reserved_bytes, memory.allocated() + memory.fragmentation);
  }
  const auto put = [&](LogQuantity quantity, std::optional<LoggedValue> value) {
    log.parts[static_cast<std::size_t>(quantity)] = value;
  };
  const int last = reported_window(record.job, record.plan).last;
  put(LogQuantity::forward_s, busy(record, last, is_forward));
  put(LogQuantity::backward_s, busy(record, last, is_backward));
  const auto path = [&](Category category) {
    const double seconds = step.critical_path_s[static_cast<std::size_t>(category)];
    return LoggedValue{seconds, seconds};
  };
  put(LogQuantity::gradients_s, path(Category::dp));
  put(LogQuantity::optimizer_s, path(Category::optimizer));
  put(LogQuantity::input_s, path(Category::input));
  return log;
}

}  // namespace windtunnel
