// The rules of models/plan/plan.hpp that say when a task may run, written once for every executor
// of a Plan: in simulated time (sim/engine), in a time without resources (policies/evaluation), in
// real time (validate/harness/execute), and in no time at all (validate_plan).
//
// The executor keeps the clock and runs the tasks of active streams. The board counts
// predecessors, keeps the ready tasks of streams by priority, and posts and ends the receives of
// passive streams.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/plan/class_template.hpp"

namespace windtunnel {

struct TaskRef {
  std::int32_t rank = 0;  // position in the order of TaskBoard::add_rank
  TaskIndex task = 0;
  bool operator==(const TaskRef&) const = default;
};

// An Executor has these members, which the board calls:
//   void on_start(TaskRef receive)   a receive of a passive stream starts now;
//   void on_posted(TaskRef receive)  its sender may start, if it waits for the receiver;
//   void on_end(TaskRef task)        the task has ended now;
//   void wake(TaskRef task)          the active stream of this task may go on because of it.
// None of them may call settle(): what they make ready waits for the settle() that is running.
template <class Executor>
class TaskBoard {
 public:
  // Keeps the reference.
  explicit TaskBoard(Executor& executor) : executor_(executor) {}

  // Keeps references. `tasks`: the list that the template was made of.
  void add_rank(const ClassTemplate& tasks_of, const std::vector<Task>& tasks) {
    const std::size_t first = pending_.size();
    ranks_.push_back({&tasks_of, &tasks, first, streams_.size()});
    pending_.resize(first + tasks_of.tasks.size());
    flags_.resize(first + tasks_of.tasks.size());
    for (std::size_t t = 0; t < tasks_of.tasks.size(); ++t) {
      pending_[first + t] = tasks_of.tasks[t].pending;
      flags_[first + t] = tasks_of.tasks[t].timed ? 0 : kTimeOk;
    }
    open_ += tasks_of.tasks.size();
    streams_.resize(streams_.size() + tasks_of.streams.size());
  }

  // Must be called once, after all ranks are added: finds what is ready before any task has run.
  void begin() {
    for (std::int32_t r = 0; r < std::ssize(ranks_); ++r) {
      for (TaskIndex t = 0; t < std::ssize(ranks_[r].tasks_of->tasks); ++t) {
        if (is_ready({r, t})) got_ready_.push_back({r, t});
      }
    }
    settle();
  }

  // Whether enough predecessors have ended; a stream in order waits for not_before_s itself.
  bool may_follow(TaskRef task) const { return pending_[index(task)] <= 0; }
  // Whether a receive is ready and its stream has come to it.
  bool is_posted(TaskRef task) const { return has(task, kPosted); }
  // Whether all bytes of a receive have arrived.
  bool has_arrived(TaskRef task) const { return has(task, kArrived); }
  bool is_done(TaskRef task) const { return has(task, kDone); }

  // The ready task of a stream by priority that runs next; none: nothing is ready.
  std::optional<TaskIndex> take_ready(std::int32_t rank, std::size_t stream) {
    std::vector<TaskIndex>& ready = stream_of(rank, stream).ready;
    if (ready.empty()) return std::nullopt;
    std::ranges::pop_heap(ready, later(rank));
    const TaskIndex task = ready.back();
    ready.pop_back();
    return task;
  }
  bool any_ready(std::int32_t rank, std::size_t stream) const {
    return !streams_[ranks_[rank].first_stream + stream].ready.empty();
  }

  // ---- what the executor reports; settle() afterwards lets others get ready ----

  // Reports that not_before_s of a timed task has passed.
  void time_has_come(TaskRef task) {
    flag(task) |= kTimeOk;
    if (may_follow(task)) got_ready_.push_back(task);
  }

  // Reports that an active stream has come to a receive.
  void post(TaskRef receive) {
    flag(receive) |= kPosted;
    executor_.on_posted(receive);
  }

  void arrive(TaskRef receive) {
    flag(receive) |= kArrived;
    if (!stream_template(receive).passive) {
      executor_.wake(receive);
    } else if (is_posted(receive)) {
      advance_passive(receive);
    }
  }

  void end(TaskRef task) {
    executor_.on_end(task);
    flag(task) |= kDone;
    --open_;
    const Rank& rank = ranks_[task.rank];
    for (const TaskIndex next : rank.tasks_of->successors_of(task.task)) {
      const std::size_t i = rank.first_task + next;
      if (--pending_[i] == 0 && (flags_[i] & kTimeOk) != 0) got_ready_.push_back({task.rank, next});
    }
  }

  // A work list instead of recursion: stacks are small, chains of receives are not.
  void settle() {
    while (!got_ready_.empty()) {
      const TaskRef ready = got_ready_.back();
      got_ready_.pop_back();
      const StreamTemplate& stream = stream_template(ready);
      if (stream.passive) {
        advance_passive(ready);
        continue;
      }
      if (stream.order == StreamOrder::by_priority) {
        std::vector<TaskIndex>& heap = stream_of(ready.rank, stream_number(ready)).ready;
        heap.push_back(ready.task);
        std::ranges::push_heap(heap, later(ready.rank));
      }
      executor_.wake(ready);
    }
  }

  // The first task, stream by stream, that has not ended; it shows where a Plan deadlocks.
  std::optional<TaskRef> first_open() const {
    if (open_ == 0) return std::nullopt;
    for (std::int32_t r = 0; r < std::ssize(ranks_); ++r) {
      for (const StreamTemplate& stream : ranks_[r].tasks_of->streams) {
        for (const TaskIndex t : stream.tasks) {
          if (!is_done({r, t})) return TaskRef{r, t};
        }
      }
    }
    return std::nullopt;
  }

 private:
  enum Flag : std::uint8_t { kTimeOk = 1, kPosted = 2, kArrived = 4, kDone = 8 };
  struct Rank {
    const ClassTemplate* tasks_of;
    const std::vector<Task>* tasks;
    std::size_t first_task;    // into pending_ and flags_
    std::size_t first_stream;  // into streams_
  };
  struct StreamState {
    std::size_t cursor = 0;        // in-order passive streams: the task whose turn it is
    std::vector<TaskIndex> ready;  // of a stream by priority: a heap
  };

  std::size_t index(TaskRef task) const { return ranks_[task.rank].first_task + task.task; }
  bool has(TaskRef task, Flag flag) const { return (flags_[index(task)] & flag) != 0; }
  std::uint8_t& flag(TaskRef task) { return flags_[index(task)]; }
  bool is_ready(TaskRef task) const { return may_follow(task) && has(task, kTimeOk); }

  std::int16_t stream_number(TaskRef task) const {
    return ranks_[task.rank].tasks_of->tasks[task.task].stream;
  }
  const StreamTemplate& stream_template(TaskRef task) const {
    return ranks_[task.rank].tasks_of->streams[stream_number(task)];
  }
  StreamState& stream_of(std::int32_t rank, std::size_t stream) {
    return streams_[ranks_[rank].first_stream + stream];
  }

  auto later(std::int32_t rank) const {
    return [&tasks = *ranks_[rank].tasks](TaskIndex a, TaskIndex b) {
      return runs_later(tasks, a, b);
    };
  }

  // Called when a receive of a passive stream has become ready or its bytes have arrived.
  void advance_passive(TaskRef receive) {
    const StreamTemplate& stream = stream_template(receive);
    if (stream.order == StreamOrder::unordered) {
      complete_if_arrived(receive);
      return;
    }
    std::size_t& cursor = stream_of(receive.rank, stream_number(receive)).cursor;
    while (cursor < stream.tasks.size() && is_ready({receive.rank, stream.tasks[cursor]})) {
      if (!complete_if_arrived({receive.rank, stream.tasks[cursor]})) return;
      ++cursor;
    }
  }

  // Posts a ready receive whose turn it is, and ends it if its bytes have arrived; returns whether
  // they have.
  bool complete_if_arrived(TaskRef receive) {
    if (!is_posted(receive)) {
      executor_.on_start(receive);
      post(receive);
    }
    if (!has_arrived(receive)) return false;
    if (!is_done(receive)) end(receive);
    return true;
  }

  Executor& executor_;
  std::vector<Rank> ranks_;
  std::vector<StreamState> streams_;
  std::vector<std::int32_t> pending_;
  std::vector<std::uint8_t> flags_;
  std::vector<TaskRef> got_ready_;
  std::size_t open_ = 0;  // tasks that have not ended
};

}  // namespace windtunnel
