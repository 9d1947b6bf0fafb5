#include "policies/tasks/offload_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/memory/memory.hpp"

namespace windtunnel {
namespace {

// The new weights of one tile are sent while the next tile is computed.
constexpr int kMostTiles = 8;
// least bytes of weights in a tile: copies of smaller tiles would be mostly latency
constexpr double kLeastTileBytes = 16e6;

int tiles_of(double weight_bytes) {
  return static_cast<int>(std::clamp(weight_bytes / kLeastTileBytes, 1.0, double(kMostTiles)));
}

}  // namespace

TaskIndex OffloadTasks::append(const char* stream, TaskKind kind, std::string name, int stage,
                               const HostWork& work, double bytes, std::vector<TaskIndex> after) {
  Task task;
  task.kind = kind;
  task.name = std::move(name);
  task.stream = tasks_.stream_named(stream);
  task.stage = stage;
  task.category = Category::offload;
  task.bytes = bytes;
  std::erase(after, -1);
  task.after = std::move(after);
  task.origin = work.origin;
  if (job_.communication.fidelity == Fidelity::closed) {
    task.cost = {{Category::offload, work.origin, work.seconds}};
  } else {
    task.flows = work.flows;
  }
  return tasks_.append(std::move(task));
}

TaskIndex OffloadTasks::copy(CopyWay way, std::string name, int stage, double bytes,
                             double host_bytes, bool disk, std::vector<TaskIndex> after) {
  return append(way == CopyWay::to_host ? "to host" : "from host", TaskKind::copy, std::move(name),
                stage, copy_work(job_, way, bytes, host_bytes, disk), bytes, std::move(after));
}

TaskIndex OffloadTasks::fetch(const HostCopies& copies, const std::string& segment, int stage,
                              int microbatch) {
  const Offload& offload = offload_of(job_);
  TaskIndex last = -1;
  if (copies.activations > 0) {
    std::vector<TaskIndex>& away = away_[{stage, microbatch}];
    CHECK(!away.empty(), "activations of {} come back that have not left", segment);
    last = copy(CopyWay::from_host, "fetch activations " + segment, stage, copies.activations, 0,
                offload.activations == MemoryTier::disk, {used_.front(), away.back()});
    away.pop_back();
    tasks_.set_tier_bytes(last, 0, copies.activations);
  }
  if (copies.weights > 0) {
    last = copy(CopyWay::from_host, "fetch weights " + segment, stage, copies.weights, 0,
                offload.weights == MemoryTier::disk, {used_.front(), weights_left_.before});
  }
  return last;
}

void OffloadTasks::used(const HostCopies& fetched, TaskIndex task) {
  if (!fetched.any() && !offload_of(job_).in_chunks()) return;
  used_.pop_front();
  used_.push_back(task);
}

std::vector<TaskIndex> OffloadTasks::take_room(const HostCopies& evicted) {
  const bool writes = evicted.activations > 0 ||
                      (evicted.gradients > 0 && offload_of(job_).gradients != MemoryTier::gpu);
  if (!writes || evicted_.before < 0) return {};
  return {evicted_.before};
}

void OffloadTasks::evict_activations(const HostCopies& copies, const std::string& segment,
                                     int stage, int microbatch, TaskIndex after) {
  if (copies.activations <= 0) return;
  const TaskIndex left =
      copy(CopyWay::to_host, "evict activations " + segment, stage, copies.activations, 0,
           offload_of(job_).activations == MemoryTier::disk, {after});
  tasks_.set_tier_bytes(left, copies.activations, 0);
  away_[{stage, microbatch}].push_back(left);
  evicted_.add(left);
}

void OffloadTasks::evict_weights(const HostCopies& copies, const std::string& segment, int stage,
                                 TaskIndex after) {
  TaskIndex left = weights_left_.last;
  if (copies.weights > 0) {
    left = copy(CopyWay::to_host, "evict weights " + segment, stage, copies.weights, 0, false,
                {after});
  }
  weights_left_.add(left);
}

void OffloadTasks::evict_gradients(const HostCopies& copies, const std::string& where, int stage,
                                   TaskIndex after) {
  if (copies.gradients <= 0) return;
  const Offload& offload = offload_of(job_);
  const bool stay = offload.gradients != MemoryTier::gpu;
  // Gradients of micro-batches are summed on the host instead of the GPU.
  const bool summed = stay && microbatches(job_.layout, job_.batch) > 1;
  const double arriving = reduce_bytes_per_parameter(job_);
  const double host_bytes =
      summed ? copies.gradients * (1 + 2 * gradient_bytes_per_parameter(job_) / arriving) : 0;
  last_gradients_ = copy(CopyWay::to_host, "evict gradients " + where, stage, copies.gradients,
                         host_bytes, offload.gradients == MemoryTier::disk, {after});
  if (stay) evicted_.add(last_gradients_);
}

void OffloadTasks::begin_iteration(double parameters, TaskIndex after) {
  const Offload& offload = offload_of(job_);
  std::ranges::fill(used_, after);
  if (offload.delayed) update(on_host(parameters), {after});
}

double OffloadTasks::on_host(double parameters) const {
  const Offload& offload = offload_of(job_);
  return offload.updates_on_host() ? offload.optimizer_share * parameters : 0;
}

std::vector<TaskIndex> OffloadTasks::update_arrived(double on_host_parameters,
                                                    const std::string& where, int stage,
                                                    TaskIndex arrived) {
  if (on_host_parameters <= 0) return {};
  evict_gradients({.gradients = on_host_parameters * reduce_bytes_per_parameter(job_)}, where,
                  stage, arrived);
  std::vector<TaskIndex> updated = update(on_host_parameters, {});
  return offload_of(job_).delayed ? std::vector<TaskIndex>{} : updated;
}

TaskIndex OffloadTasks::step(double parameters, std::vector<TaskIndex> ready) {
  const double moved = on_host(parameters);
  if (!offload_of(job_).delayed) update(moved, ready);
  // The step is appended even without parameters, because GPUs wait for the host between steps.
  const TaskIndex stepped =
      tasks_.optimizer(optimizer_cost(parameters - moved, job_), std::move(ready));
  if (updates_.empty()) return stepped;
  Task join;
  join.name = "updated";
  join.stream = kCompute;
  join.category = Category::offload;
  join.after = std::exchange(updates_, {});
  join.after.push_back(stepped);
  return tasks_.append(std::move(join));
}

std::vector<TaskIndex> OffloadTasks::update(double on_host_parameters,
                                            const std::vector<TaskIndex>& after) {
  if (on_host_parameters <= 0) return {};
  const Offload& offload = offload_of(job_);
  const double arriving = reduce_bytes_per_parameter(job_);
  const double state = optimizer_bytes_per_parameter(job_);
  const double weights = weight_bytes_per_parameter(job_);
  const bool disk = offload.optimizer == MemoryTier::disk;
  const bool back = offload.weights == MemoryTier::gpu;
  const int tiles = tiles_of(weights * on_host_parameters);
  const double tile = on_host_parameters / tiles;
  std::vector<TaskIndex> ready = after;
  ready.push_back(std::exchange(last_gradients_, -1));
  std::vector<TaskIndex> users_wait;
  for (int i = 0; i < tiles; ++i) {
    const std::string name = tiles > 1 ? fmt::format(" {}", i) : "";
    std::vector<TaskIndex> first = ready;
    if (disk) {
      first.push_back(append("state in", TaskKind::store, "read state" + name, -1,
                             drive_work(job_, tile * state), tile * state, {}));
    }
    const TaskIndex updated =
        append("host", TaskKind::encode, "update" + name, -1,
               update_work(job_, tile * (arriving + 2 * state + weights)), 0, std::move(first));
    if (disk) {
      updates_.push_back(append("state out", TaskKind::store, "write state" + name, -1,
                                drive_work(job_, tile * state), tile * state, {updated}));
    }
    users_wait.push_back(back ? copy(CopyWay::from_host, "new weights" + name, -1, tile * weights,
                                     0, false, {updated})
                              : updated);
  }
  updates_.insert(updates_.end(), users_wait.begin(), users_wait.end());
  return users_wait;
}

}  // namespace windtunnel
