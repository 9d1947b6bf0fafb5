// Rank 0's watch over forked ranks. Rank 0 or others may wait for a failed rank in a call that no
// broken connection ends, such as a kernel of NCCL. A thread waits for the ranks to end; when one
// fails, it calls the hooks that end such waits in rank 0 and, after a while, kills processes that
// have not noticed.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace windtunnel {

// The process writes to the pipe why it fails, and nothing on success.
struct ForkedRank {
  pid_t process = 0;
  int pipe = -1;
};

class RankWatch {
 public:
  // Starts a thread, so all ranks must have been forked. The thread blocks signals, which are for
  // the caller.
  explicit RankWatch(std::vector<ForkedRank> ranks);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  // Called when rank 0 is done. If rank 0 failed, returns when all ranks have ended. The caller
  // still has to wait for the processes and read their pipes.
  void end(bool failed);
  // Whether the watch killed the process after a failure; its signal then has no meaning.
  bool killed(pid_t process) const;

 private:
  friend class FailureHook;
  using Hooks = std::list<std::function<void()>>;

  void watch(std::vector<ForkedRank> ranks);
  void fail();

  int wake_ = -1;  // eventfd; written when rank 0 is done
  std::atomic<bool> rank_0_failed_ = false;
  std::mutex mutex_;  // held while hooks run
  Hooks hooks_;
  bool failed_ = false;
  std::vector<pid_t> killed_;  // used by the thread until it ends
  std::thread thread_;
};

// The watch's thread calls `end` when a rank fails, at once if one already has. Destroying the hook
// waits for a running call and prevents later ones. Without a watch it is never called.
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
