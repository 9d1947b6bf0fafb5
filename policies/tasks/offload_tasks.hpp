// What Job::offload has on its way beside the passes of a rank, as tasks: layers' weights and
// activations that come one segment before they are needed, gradients and activations that leave,
// and the step of the host's cores. All on shared resources, so that it competes with snapshots and
// with the node's other GPUs.
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
  // Keeps references. `job`: as the rank's own nodes see it.
  OffloadTasks(const Job& job, RankTasks& tasks)
      : job_(job), tasks_(tasks), used_(offload_of(job).sections, -1) {}

  // What a segment of a micro-batch waits for; -1: it needs nothing. Copies of Offload::sections
  // segments are on the GPU at once: the next one's come when what the first of them fetched has
  // been used, and activations when they have left.
  TaskIndex fetch(const HostCopies& copies, const std::string& segment, int stage, int microbatch);
  // The segment that fetched has this last task.
  void used(const HostCopies& fetched, TaskIndex task);
  void evict_activations(const HostCopies& copies, const std::string& segment, int stage,
                         int microbatch, TaskIndex after);
  // To be called for each segment, whether it evicts weights or not: what the last but one evicted
  // makes room for what the next one fetches.
  void evict_weights(const HostCopies& copies, const std::string& segment, int stage,
                     TaskIndex after);
  void evict_gradients(const HostCopies& copies, const std::string& where, int stage,
                       TaskIndex after);
  // The tasks that a segment waits for before it evicts: the copies before the last that evicted
  // must be gone, because it writes to their place.
  std::vector<TaskIndex> take_room(const HostCopies& evicted);

  // `parameters` are all that a rank or segment updates, of which Offload::optimizer_share is the
  // host's; `on_host_parameters` is that part already.

  // An iteration begins behind `after`, -1 for the first; with the step of the one before it where
  // that is delayed.
  void begin_iteration(double parameters, TaskIndex after);
  // The host's step for a segment whose gradients arrive in the iteration that uses the new
  // weights, behind `arrived`: gradients leave, weights come back. Returns what the segment waits
  // for: nothing where the step is delayed.
  std::vector<TaskIndex> update_arrived(double on_host_parameters, const std::string& where,
                                        int stage, TaskIndex arrived);
  // The optimizer's step behind `ready`, on the GPU and on the host; ends when the new weights are
  // where they are used.
  TaskIndex step(double parameters, std::vector<TaskIndex> ready);

 private:
  double on_host(double parameters) const;  // the part that the host updates
  TaskIndex append(const char* stream, TaskKind kind, std::string name, int stage,
                   const HostWork& work, double bytes, std::vector<TaskIndex> after);
  TaskIndex copy(CopyWay way, std::string name, int stage, double bytes, double host_bytes,
                 bool disk, std::vector<TaskIndex> after);
  // The update on the host, after these tasks and all gradients that leave the GPU. It runs in
  // tiles: one returns to the GPU while the next is computed. Returns the tasks that users of the
  // weights wait for.
  std::vector<TaskIndex> update(double on_host_parameters, const std::vector<TaskIndex>& after);

  const Job& job_;
  RankTasks& tasks_;
  TaskIndex last_gradients_ = -1;
  std::vector<TaskIndex> updates_;  // tasks that the end of the iteration waits for
  // The last two, of those that bound what is on the GPU.
  struct LastTwo {
    TaskIndex before = -1;
    TaskIndex last = -1;
    void add(TaskIndex task) { before = std::exchange(last, task); }
  };
  LastTwo evicted_;
  // The last Offload::sections segments that fetched, the oldest first.
  std::deque<TaskIndex> used_;
  LastTwo weights_left_;
  // [stage, micro-batch] the copies out of its activations, which the backward pass takes back from
  // the last one on.
  std::map<std::pair<int, int>, std::vector<TaskIndex>> away_;
};

}  // namespace windtunnel
