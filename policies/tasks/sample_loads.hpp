// The tasks that load the samples of a pipeline rank (Job::input), and which forward waits for
// which: docs/physics/idle-time.md.
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
  // Keeps references. `load`: empty, samples are there. `alone`: as InputLoad::sample_s has it.
  SampleLoads(const Job& job, const Schedule& schedule, const std::optional<InputLoad>& load,
              int rank, bool alone, RankTasks& tasks);

  // An iteration begins when `after` (-1: nothing) has ended.
  void begin(int iteration, TaskIndex after);
  // What `task`, the compute task of the action, waits for besides.
  void await(const Action& action, Task& task);

 private:
  // Loads the samples of the step after the iteration, all at once.
  TaskIndex next_samples(int iteration);
  TaskIndex add(std::string name, double samples);
  bool reads(const Action& action) const;

  const Job& job_;
  const Schedule& schedule_;
  const InputLoad* load_;  // null: there is nothing to load
  const bool alone_;
  RankTasks& tasks_;
  int reads_ = 0;       // forwards of an iteration that need samples
  double samples_ = 0;  // of an iteration
  int stream_ = -1;
  TaskIndex after_ = -1;
  std::vector<TaskIndex> next_samples_;  // [iteration]
  int read_ = 0;                         // of them in the list
};

}  // namespace windtunnel
