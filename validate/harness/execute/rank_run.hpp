// Runs one rank of a Plan for real, with a thread for each stream that computes or sends, and one
// thread that receives for all. Tasks start by the same rules as in the engine
// (models/plan/plan.hpp). What a task does takes the time of this machine, including waits of the
// scenario's length.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "models/plan/plan.hpp"
#include "models/plan/task_board.hpp"
#include "models/plan/timeline.hpp"
#include "validate/harness/execute/collective_work.hpp"
#include "validate/harness/execute/device_collectives.hpp"
#include "validate/harness/execute/plan_kernels.hpp"
#include "validate/harness/execute/rank_wire.hpp"
#include "validate/harness/execute/run_clock.hpp"

namespace windtunnel {

// Copies, encodes and stores the bytes of a rank, in memory and in an unnamed file, which
// disappears with the process.
class RankStore {
 public:
  RankStore() = default;
  ~RankStore();
  RankStore(const RankStore&) = delete;
  RankStore& operator=(const RankStore&) = delete;

  // Copies, xors or writes this many bytes, depending on the kind of task. Throws Error (failed) if
  // the disk refuses.
  void work(TaskKind kind, std::size_t size_bytes);

 private:
  void write(std::span<const std::byte> bytes);

  std::mutex mutex_;
  std::vector<std::byte> from_, to_;
  int file_ = -1;
  std::size_t written_bytes_ = 0;
};

// The inputs of a rank.
struct RankSetup {
  const Plan* plan = nullptr;
  const ClassTemplate* tasks_of = nullptr;
  std::int32_t rank_class = 0;
  std::int32_t member = 0;
  std::vector<double> seconds;        // [task] time without transfers, on its node
  std::vector<double> amount_factor;  // [task] factor for its flows, on its node
  std::vector<CollectiveWork> works;  // [task] for collectives
  const LinkClocks* links = nullptr;
  ExecutionScale scale;
  // [stream] for streams that compute; empty: computations are waits
  std::vector<std::unique_ptr<StreamKernels>> kernels;
  DeviceCollectives* device = nullptr;  // for collectives of all ranks; null: over TCP
};

class RankRun {
 public:
  // Ends the process from any thread of the rank. Does not return.
  using Fail = std::function<void(const std::exception&)>;

  // `spans` receives the times of each task. Keeps references.
  RankRun(const RankSetup& setup, RankWire& wire, const RunClock& clock, Span* spans, Fail fail);

  // Runs until all tasks have ended and `all_through` says that the tasks of the other ranks have
  // ended too, because the other ranks may still send to this one. `all_through` is called as often
  // as signs of life are due (forked_run.hpp). Any thread calls `step` when work progresses.
  void run(const std::function<bool(bool through)>& all_through, const std::function<void()>& step);

 private:
  friend class GroupPeers;
  struct StreamState {
    std::condition_variable woken;
    std::vector<std::byte> buffer;  // of its collectives
    std::vector<std::byte> scratch;
  };
  // A collective receives this from another member.
  struct Piece {
    double due_s = 0;
    std::vector<std::byte> bytes;
  };
  using PieceKey = std::tuple<std::int32_t, std::int32_t, int>;  // group, sequence, from
  struct Event {
    double at_s = 0;
    TaskIndex task = 0;
    bool arrival = false;  // otherwise it is due because not_before_s has passed
    bool operator<(const Event& other) const { return at_s > other.at_s; }
  };
  // A message or a flow is sent in pieces along its Way.
  struct Way {
    std::vector<LinkId> route;
    double left = 0;   // units
    double piece = 0;  // units
    double max_rate = std::numeric_limits<double>::infinity();
    double at_s = 0;  // start of the next piece
    bool message = false;
    bool bytes = true;  // otherwise seconds of cores
  };
  using Lock = std::unique_lock<std::mutex>;

  void run_in_order(std::size_t s);
  void run_by_priority(std::size_t s);
  void receive_frames(const std::function<bool(bool through)>& all_through);
  void on_frame(int from, const FrameHead& head, std::vector<std::byte> payload);
  void take_due_events();
  void send_notices();

  void execute(TaskIndex t);
  void compute(TaskIndex t);
  void wait_for_arrival(TaskIndex t);
  void wait_for_receiver(TaskIndex t);
  void run_collective(TaskIndex t);
  void meet(const CollectiveWork& work, TaskIndex t);
  void run_rounds(const CollectiveWork& work, TaskIndex t);
  bool runs_on_device(const CollectiveWork& work) const;
  void run_on_numbers(const CollectiveWork& work, CollectiveForm form, TaskIndex t);
  bool run_on_tcp(const CollectiveNumbers& numbers, const CollectiveWork& work, TaskIndex t);
  // Runs all flows of the task and its message in parallel; returns when the last has passed.
  void transfer(TaskIndex t, bool message);
  std::vector<Way> ways_of(TaskIndex t, bool message) const;
  void send_piece(TaskIndex t, Way& way);
  void send_frame(RankId to, const FrameHead& head, std::span<const std::byte> payload);

  // Callbacks of the board, called with the lock held.
  friend class TaskBoard<RankRun>;
  void on_start(TaskRef receive) { spans_[receive.task].start_s = clock_.now_s(); }
  void on_posted(TaskRef receive);
  void on_end(TaskRef task);
  void wake(TaskRef task) { stream_of(task.task).woken.notify_all(); }

  FrameHead notice_of(TaskIndex t) const;
  RankId peer_of(TaskIndex t) const;
  RankId own_rank() const;
  std::int32_t group_of(TaskIndex t) const;
  const Task& task(TaskIndex t) const { return tasks_[static_cast<std::size_t>(t)]; }
  StreamState& stream_of(TaskIndex t) { return streams_[static_cast<std::size_t>(task(t).stream)]; }

  Piece take_piece(const PieceKey& key, StreamState& stream);

  const RankSetup& setup_;
  const std::vector<Task>& tasks_;
  RankWire& wire_;
  const RunClock& clock_;
  Span* spans_;
  Fail fail_;
  std::function<void()> step_;
  RankStore store_;
  std::map<std::pair<RankId, std::int64_t>, TaskIndex> receive_of_, send_of_;  // [peer and tag]

  std::mutex mutex_;          // protects the members below
  TaskBoard<RankRun> board_;  // of one rank
  // Synchronous sends that may start, because their receive is posted.
  std::set<TaskIndex> receivers_;
  std::deque<StreamState> streams_;
  std::size_t left_ = 0;  // tasks that have not ended
  std::map<PieceKey, std::deque<Piece>> pieces_;
  std::priority_queue<Event> events_;
  // Posted receives whose synchronous sends must be notified. The receiving thread does this, and
  // it may not block.
  std::deque<TaskIndex> notices_;
};

}  // namespace windtunnel
