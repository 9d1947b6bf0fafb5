// Processes of one run and who watches over them: each has memory that all share, signs of life
// included. One that dies, stops, or does not come is named within seconds, and then none is left.
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

// Memory that processes forked later share, zero at first.
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

// What a process tells those that watch. All is zero at first, which is what it should be.
struct ProcessState {
  std::atomic<std::uint32_t> signs;           // counts up while it lives
  std::atomic<std::uint32_t> steps;           // counts up as its work gets on
  std::atomic<std::int64_t> sleeps_until_ns;  // CLOCK_MONOTONIC: till then it may well rest
  std::atomic<bool> here;                     // ready to start
  std::atomic<bool> through;
  std::atomic<bool> failed;   // `message` says why
  std::atomic<bool> follows;  // from another's end
  char message[500];
};

// What is common to all.
struct RunState {
  std::atomic<std::int32_t> processes;
  std::atomic<std::int32_t> through;
  std::atomic<std::int64_t> start_ns;  // CLOCK_MONOTONIC; 0: not all are here
};

// A process's own view of the run.
class ForkedProcess {
 public:
  ForkedProcess(RunState& run, ProcessState& own) : run_(run), own_(own) {}

  void sign() const { own_.signs.fetch_add(1); }
  void step() const { own_.steps.fetch_add(1); }  // its work has got on
  std::atomic<std::int64_t>* sleeps_until_ns() const { return &own_.sleeps_until_ns; }
  // Returns when all will start, CLOCK_MONOTONIC.
  std::int64_t wait_for_start() const;
  // `through`: this one is. Whether all are.
  bool all_through(bool through) const;
  // Says why, and ends the process at once, whichever thread calls.
  [[noreturn]] void fail(const std::exception& error) const;

 private:
  RunState& run_;
  ProcessState& own_;
};

// Signs for a process from a thread of its own, while it sets up and meets the others.
class SignsOfLife {
 public:
  // `process` must outlive it.
  explicit SignsOfLife(const ForkedProcess& process);

 private:
  std::jthread thread_;
};

struct WatchRules {
  // A process that gives no sign for so long has stopped: it gives one twenty times a second. Time
  // in which the watcher itself did not run does not count.
  double silence_s = 3.5;
  double setup_s = 120;  // to be ready to start: who is not by then never will be
  // Of all together: so long without a step though none of them sleeps is a standstill.
  double standstill_s = std::numeric_limits<double>::infinity();
  std::function<std::string()> where = {};  // says at what they stand still
  std::function<void()> at_start = {};      // in the calling process, when all are there
};

// `body` runs in so many processes, each of which ends with it; the calling process only watches.
// Throws Error (failed) when one fails: of several, the one that does not follow from another. No
// other thread may run in the calling process. `noun`: what they are called, "rank".
void run_forked(int processes, const std::string& noun,
                const std::function<void(int index, const ForkedProcess& process)>& body,
                const WatchRules& rules = {});

}  // namespace windtunnel
