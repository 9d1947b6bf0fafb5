// Tasks that load samples for a pipeline rank (Job::input), and which forward waits for which of
// them: docs/physics/idle-time.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/tasks/input_load.hpp"
#include "policies/tasks/rank_tasks.hpp"

namespace windtunnel {

class SampleLoads {
 public:
  // Keeps references. `load` empty: samples are always ready. `alone`: use InputLoad::sample_s.
  SampleLoads(const Job& job, const Schedule& schedule, const std::optional<InputLoad>& load,
              int rank, bool alone, RankTasks& tasks);

  // Begins an iteration after the task `after`; -1: nothing comes before it.
  void begin(int iteration, TaskIndex after);
  // Lets `task`, which computes the action, wait for the samples of the action.
  void await(const Action& action, Task& task);

 private:
  // Adds the task that loads all samples for the iteration after this one.
  TaskIndex next_samples(int iteration);
  TaskIndex add(std::string name, double samples);
  bool reads(const Action& action) const;

  const Job& job_;
  const Schedule& schedule_;
  const InputLoad* load_;  // null: there is nothing to load
  const bool alone_;
  RankTasks& tasks_;
  int reads_ = 0;       // number of forwards in an iteration that need samples
  double samples_ = 0;  // per iteration
  int stream_ = -1;
  TaskIndex after_ = -1;
  std::vector<TaskIndex> next_samples_;  // [iteration]
  int read_ = 0;                         // number of forwards so far that needed samples
};

}  // namespace windtunnel
