// Runs and watches the processes of an execution, which share memory for their state. A process
// that dies, hangs or does not start is named within seconds, and then all are ended.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <string>
#include <thread>

namespace windtunnel {

// Memory shared with processes that are forked later; zero at first.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t size_bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_bytes_;
};

// The state that a process shows to the watcher. Zero is the right initial value.
struct ProcessState {
  std::atomic<std::uint32_t> signs;           // increases regularly while the process lives
  std::atomic<std::uint32_t> steps;           // increases as its work progresses
  std::atomic<std::int64_t> sleeps_until_ns;  // CLOCK_MONOTONIC: a rest until then is intended
  std::atomic<bool> here;                     // ready to start
  std::atomic<bool> through;
  std::atomic<bool> failed;   // `message` says why
  std::atomic<bool> follows;  // because of another's end
  char message[500];
};

// State common to all processes.
struct RunState {
  std::atomic<std::int32_t> processes;
  std::atomic<std::int32_t> through;
  std::atomic<std::int64_t> start_ns;  // CLOCK_MONOTONIC; 0: not all are ready
};

// A process's access to the state of the run.
class ForkedProcess {
 public:
  ForkedProcess(RunState& run, ProcessState& own) : run_(run), own_(own) {}

  void sign() const { own_.signs.fetch_add(1); }
  void step() const { own_.steps.fetch_add(1); }  // records progress
  std::atomic<std::int64_t>* sleeps_until_ns() const { return &own_.sleeps_until_ns; }
  // Returns the common start time, CLOCK_MONOTONIC.
  std::int64_t wait_for_start() const;
  // `through` tells whether this process is done. Returns whether all are.
  bool all_through(bool through) const;
  // Records the reason and ends the process at once, from any thread.
  [[noreturn]] void fail(const std::exception& error) const;

 private:
  RunState& run_;
  ProcessState& own_;
};

// Gives signs of life from a separate thread, while a process sets up and connects to the others.
class SignsOfLife {
 public:
  // `process` must outlive it.
  explicit SignsOfLife(const ForkedProcess& process);

 private:
  std::jthread thread_;
};

struct WatchRules {
  // A process without a sign for this long counts as stopped; signs come twenty times a second.
  // Time in which the watcher itself did not run does not count.
  double silence_s = 3.5;
  double setup_s = 120;  // limit for getting ready
  // If no process makes a step for this long although none sleeps, the run counts as stuck.
  double standstill_s = std::numeric_limits<double>::infinity();
  std::function<std::string()> where = {};  // describes where they are stuck
  std::function<void()> at_start = {};      // called in the calling process when all are ready
};

// Runs `body` in this many processes, each of which ends afterwards; the calling process only
// watches. Throws Error (failed) if one fails; of several failures, one that is not a consequence
// of another. The calling process must have no other thread. `noun` names the processes in
// messages: "rank".
void run_forked(int processes, const std::string& noun,
                const std::function<void(int index, const ForkedProcess& process)>& body,
                const WatchRules& rules = {});

}  // namespace windtunnel
