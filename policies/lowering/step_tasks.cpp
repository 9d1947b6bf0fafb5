#include "policies/lowering/step_tasks.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace windtunnel {
namespace {

class StepTasks {
 public:
  StepTasks(const Task& whole, const std::vector<CostPart>& compute, double longer,
            RankTasks& tasks, std::vector<TaskIndex>& later)
      : whole_(whole),
        compute_(compute),
        compute_s_(total_seconds(compute)),
        longer_(longer),
        tasks_(tasks),
        later_(later),
        awaited_(whole.after),
        piece_(whole) {
    piece_.name.clear();
    piece_.after.clear();
    piece_.cost.clear();
    piece_.free_bytes = 0;
  }

  void add(std::span<const ActionStep> steps) {
    for (const ActionStep& step : steps) add(step, longer_ * seconds_of(step));
  }

  // Ends the action with a piece that waits for all awaited collectives, and frees its memory.
  TaskIndex finish() {
    if (last_ < 0 || !awaited_.empty()) piece(0);
    tasks_.set_free_bytes(last_, whole_.free_bytes);
    return last_;
  }

 private:
  using Stream = RankTasks::InnerStream;

  void add(const ActionStep& step, double longer_s) {
    compute(step.compute_s + longer_s);
    std::vector<TaskIndex> before = awaited_;
    if (last_ >= 0) before.push_back(last_);
    // Steps that overlap this one may have collectives that are awaited earlier. This step's
    // collectives must not delay them, so they run on another stream.
    const Stream stream = step.beside.empty() ? Stream::awaited : Stream::later;
    const std::vector<TaskIndex> ends = issue(step.collectives, step.category, stream, before);
    const std::vector<TaskIndex> later = issue(step.later, step.category, Stream::later, before);
    later_.insert(later_.end(), later.begin(), later.end());
    compute(step.beside_s);
    for (const ActionStep& other : step.beside) add(other, 0);
    awaited_.insert(awaited_.end(), ends.begin(), ends.end());
  }

  // Issues collectives one after another. Returns the last one, if there is any.
  std::vector<TaskIndex> issue(const std::vector<InnerCollective>& collectives, Category category,
                               Stream stream, std::vector<TaskIndex> ready) {
    for (const InnerCollective& collective : collectives) {
      ready = {append(collective, category, stream, ready)};
    }
    return collectives.empty() ? std::vector<TaskIndex>{} : ready;
  }

  TaskIndex append(const InnerCollective& collective, Category category, Stream stream,
                   const std::vector<TaskIndex>& after) {
    Task task;
    task.name = fmt::format("{} {}", to_string(collective.kind), name());
    task.stage = whole_.stage;
    task.microbatch = whole_.microbatch;
    task.after = after;
    return tasks_.append_inner(std::move(task), collective, category, stream);
  }

  // The first piece is named "F0.3", the second "F0.3 1".
  std::string name() const {
    return pieces_ == 0 ? whole_.name : fmt::format("{} {}", whole_.name, pieces_);
  }

  void compute(double seconds) {
    if (seconds > 0) piece(seconds);
  }

  void piece(double seconds) {
    Task task = piece_;
    task.name = name();
    for (CostPart part : compute_) {
      part.seconds *= compute_s_ > 0 ? seconds / compute_s_ : 0;
      if (part.seconds > 0) task.cost.push_back(part);
    }
    task.after = std::exchange(awaited_, {});
    if (last_ >= 0) {
      task.allocate_bytes = 0;
      if (tasks_.kernels_first()) task.after.push_back(last_);
    }
    last_ = tasks_.append(std::move(task));
    ++pieces_;
  }

  const Task& whole_;
  const std::vector<CostPart>& compute_;
  const double compute_s_;
  const double longer_;  // seconds that are added per second of a step
  RankTasks& tasks_;
  std::vector<TaskIndex>& later_;
  std::vector<TaskIndex> awaited_;  // collectives that the next piece awaits
  Task piece_;                      // the common members of all pieces
  TaskIndex last_ = -1;
  int pieces_ = 0;
};

}  // namespace

TaskIndex append_steps(const Task& whole, const std::vector<CostPart>& compute, double longer_s,
                       std::span<const ActionStep> steps, RankTasks& tasks,
                       std::vector<TaskIndex>& later) {
  const double seconds = seconds_of(steps);
  StepTasks pieces(whole, compute, seconds > 0 ? longer_s / seconds : 0, tasks, later);
  pieces.add(steps);
  return pieces.finish();
}

}  // namespace windtunnel
