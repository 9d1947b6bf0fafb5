#include "policies/tasks/sample_loads.hpp"

#include <fmt/format.h>

#include <utility>

#include "models/workload/input_pipeline.hpp"

namespace windtunnel {

SampleLoads::SampleLoads(const Job& job, const Schedule& schedule,
                         const std::optional<InputLoad>& load, int rank, bool alone,
                         RankTasks& tasks)
    : job_(job),
      schedule_(schedule),
      load_(load && load->reads[rank] && !load->flows.empty() ? &*load : nullptr),
      alone_(alone),
      tasks_(tasks) {
  if (load_ == nullptr) return;
  for (const Action& action : schedule.actions[rank]) reads_ += reads(action) ? 1 : 0;
  reads_ /= schedule.iterations;
  if (reads_ == 0) {
    load_ = nullptr;
    return;
  }
  samples_ = samples_of_iteration(job, *load_, schedule, rank);
  stream_ = tasks_.stream_named("input");
}

void SampleLoads::begin(int iteration, TaskIndex after) {
  after_ = after;
  if (load_ != nullptr && job_.input->prefetch > 0) next_samples(iteration);
}

// The first forward of a step waits for all samples of the step. Without prefetching the first
// forward of each micro-batch waits only for its samples, which are loaded one after the other from
// the start of the step.
void SampleLoads::await(const Action& action, Task& task) {
  if (load_ == nullptr || !reads(action)) return;
  const int read = read_++;
  if (job_.input->prefetch == 0) {
    task.after.push_back(
        add(fmt::format("load {}", action.unit), samples_of_unit(job_, *load_, action.unit)));
  } else if (read >= reads_ && read % reads_ == 0) {
    task.after.push_back(next_samples(read / reads_ - 1));
  }
}

// Whether this action is the first one of its micro-batch that needs samples.
bool SampleLoads::reads(const Action& action) const {
  if (action.kind != ActionKind::forward || schedule_.model_stage(action.stage) != 0) return false;
  if (!load_->of_unit.empty()) return samples_of_unit(job_, *load_, action.unit) > 0;
  return action.unit % schedule_.slices == 0;
}

TaskIndex SampleLoads::next_samples(int iteration) {
  while (iteration >= static_cast<int>(next_samples_.size())) {
    next_samples_.push_back(add("load the next step", samples_));
  }
  return next_samples_[iteration];
}

TaskIndex SampleLoads::add(std::string name, double samples) {
  Task task;
  task.kind = TaskKind::store;
  task.name = std::move(name);
  task.stream = static_cast<std::int16_t>(stream_);
  task.category = Category::input;
  task.origin = load_->origin;
  if (alone_) {
    task.cost = {{Category::input, load_->origin, samples * load_->sample_s}};
  } else {
    task.flows = load_->flows;
    for (Flow& flow : task.flows) flow.amount *= samples;
  }
  if (after_ >= 0) task.after = {after_};
  return tasks_.append(std::move(task));
}

}  // namespace windtunnel
