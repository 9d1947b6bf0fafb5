// Transfers of Job::offload in parallel to a rank's passes, as tasks: weights and activations of
// layers are fetched one segment before they are needed, gradients and activations are evicted, and
// the host runs its part of the optimizer step. All use shared resources, so they compete with
// snapshots and with the node's other GPUs.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/cost/offload/host_work.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/plan/job.hpp"
#include "policies/exchange/segments.hpp"
#include "policies/tasks/rank_tasks.hpp"

namespace windtunnel {

class OffloadTasks {
 public:
  // Keeps references. `job`: as the rank's nodes see it.
  OffloadTasks(const Job& job, RankTasks& tasks)
      : job_(job), tasks_(tasks), used_(offload_of(job).sections, -1) {}

  // Fetches what a segment of a micro-batch needs. Returns the task for which the segment must
  // wait; -1: none. The GPU has buffers for Offload::sections segments: a segment's data is fetched
  // when the oldest segment has used its data, and activations not before they are evicted.
  TaskIndex fetch(const HostCopies& copies, const std::string& segment, int stage, int microbatch);
  // Reports the last task of the segment that used the fetched data.
  void used(const HostCopies& fetched, TaskIndex task);
  void evict_activations(const HostCopies& copies, const std::string& segment, int stage,
                         int microbatch, TaskIndex after);
  // Must be called for each segment, even if it evicts no weights, because the eviction before the
  // last one makes room for the next fetch.
  void evict_weights(const HostCopies& copies, const std::string& segment, int stage,
                     TaskIndex after);
  void evict_gradients(const HostCopies& copies, const std::string& where, int stage,
                       TaskIndex after);
  // Returns the tasks that a segment waits for before it evicts: the copies of the eviction before
  // the last one must be complete, because the segment writes to their buffer.
  std::vector<TaskIndex> take_room(const HostCopies& evicted);

  // Below, `parameters` counts all that a rank or segment updates, of which the host updates
  // Offload::optimizer_share; `on_host_parameters` counts only the host's.

  // Begins an iteration after the task `after`; -1: it is the first. If the host's step is delayed,
  // the host starts the step of the previous iteration.
  void begin_iteration(double parameters, TaskIndex after);
  // Adds the host's step for a segment whose gradients arrive, by the task `arrived`, in the
  // iteration that uses the new weights: gradients are evicted, weights fetched. Returns what the
  // segment waits for; nothing if the step is delayed.
  std::vector<TaskIndex> update_arrived(double on_host_parameters, const std::string& where,
                                        int stage, TaskIndex arrived);
  // Adds the optimizer step on the GPU and on the host after the tasks `ready`. Returns the task
  // after which the new weights are in place.
  TaskIndex step(double parameters, std::vector<TaskIndex> ready);

 private:
  double on_host(double parameters) const;  // the part that the host updates
  TaskIndex append(const char* stream, TaskKind kind, std::string name, int stage,
                   const HostWork& work, double bytes, std::vector<TaskIndex> after);
  TaskIndex copy(CopyWay way, std::string name, int stage, double bytes, double host_bytes,
                 bool disk, std::vector<TaskIndex> after);
  // Adds the update on the host, after these tasks and all evictions of gradients. It runs in
  // tiles: one returns to the GPU while the next is computed. Returns the tasks for which users of
  // the weights wait.
  std::vector<TaskIndex> update(double on_host_parameters, const std::vector<TaskIndex>& after);

  const Job& job_;
  RankTasks& tasks_;
  TaskIndex last_gradients_ = -1;
  std::vector<TaskIndex> updates_;  // tasks that must complete before the iteration ends
  // The last two evictions, which limit the data on the GPU.
  struct LastTwo {
    TaskIndex before = -1;
    TaskIndex last = -1;
    void add(TaskIndex task) { before = std::exchange(last, task); }
  };
  LastTwo evicted_;
  // Last tasks of the latest Offload::sections segments that fetched, oldest first.
  std::deque<TaskIndex> used_;
  LastTwo weights_left_;
  // {stage, micro-batch} Copies that evicted its activations. The backward pass fetches them in
  // reverse order.
  std::map<std::pair<int, int>, std::vector<TaskIndex>> away_;
};

}  // namespace windtunnel
