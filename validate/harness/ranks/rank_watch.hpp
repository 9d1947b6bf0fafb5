// Forked ranks as rank 0 sees them. It may wait for one of them in what no broken connection ends,
// a kernel of NCCL for one, and so may the others: a thread waits for their ends, and once a rank
// has failed it calls the hooks that end such waits here, and ends the processes that have not
// noticed by themselves a while later.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace windtunnel {

// Its process says in the pipe why it fails, and nothing where all went well.
struct ForkedRank {
  pid_t process = 0;
  int pipe = -1;
};

class RankWatch {
 public:
  // Starts a thread: all ranks are forked. It takes no signals, which are the caller's.
  explicit RankWatch(std::vector<ForkedRank> ranks);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  // Rank 0 is through. Where it failed, returns when all have ended. The processes are left to be
  // waited for, and their pipes to be read.
  void end(bool failed);
  // By the watch, after a failure: its signal tells nothing.
  bool killed(pid_t process) const;

 private:
  friend class FailureHook;
  using Hooks = std::list<std::function<void()>>;

  void watch(std::vector<ForkedRank> ranks);
  void fail();

  int wake_ = -1;  // eventfd; written when rank 0 is through
  std::atomic<bool> rank_0_failed_ = false;
  std::mutex mutex_;  // held while hooks run
  Hooks hooks_;
  bool failed_ = false;
  std::vector<pid_t> killed_;  // the thread's until it has ended
  std::thread thread_;
};

// `end` is called, on the watch's thread, when a rank fails; at once where one has. No more after
// the hook is gone, which waits for a call that runs. Without a watch: never.
class FailureHook {
 public:
  FailureHook(RankWatch* watch, std::function<void()> end);
  ~FailureHook();
  FailureHook(const FailureHook&) = delete;
  FailureHook& operator=(const FailureHook&) = delete;

 private:
  RankWatch* watch_;
  RankWatch::Hooks::iterator place_;
};

}  // namespace windtunnel
