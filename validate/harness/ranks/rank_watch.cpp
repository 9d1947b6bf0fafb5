#include "validate/harness/ranks/rank_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

// Time for ranks that notice a failure over TCP to end.
constexpr std::chrono::seconds kGrace{5};

// The rank's pipe has ended, so the process has ended or is about to. The caller still has to wait
// for it.
bool ended_well(const ForkedRank& rank) {
  siginfo_t info = {};
  while (waitid(P_PID, static_cast<id_t>(rank.process), &info, WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) return false;
  }
  return info.si_code == CLD_EXITED && info.si_status == 0;
}

// Removes the ranks whose pipes (`waits` after the first) have ended; returns whether one has
// failed.
bool take_ended(const std::vector<pollfd>& waits, std::vector<ForkedRank>& ranks) {
  bool failed = false;
  for (std::size_t i = ranks.size(); i-- > 0;) {
    if (waits[i + 1].revents == 0) continue;
    failed = !ended_well(ranks[i]) || failed;
    ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return failed;
}

// Returns -1 without a time. Rounds up, so that poll() does not return before that time.
int milliseconds_to(const std::optional<Clock::time_point>& until) {
  if (!until) return -1;
  const auto left = std::chrono::ceil<Milliseconds>(*until - Clock::now());
  return static_cast<int>(std::max(left, Milliseconds(0)).count());
}

}  // namespace

RankWatch::RankWatch(std::vector<ForkedRank> ranks) : wake_(eventfd(0, EFD_CLOEXEC)) {
  if (wake_ < 0) {
    throw Error(fmt::format("cannot watch the ranks: {}", std::strerror(errno)), ExitCode::failed);
  }
  // The new thread starts with all signals blocked, so that the main thread receives them.
  sigset_t all = {};
  sigset_t before = {};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this, ranks = std::move(ranks)]() mutable { watch(std::move(ranks)); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    close(wake_);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RankWatch::~RankWatch() {
  end(false);
  close(wake_);
}

void RankWatch::end(bool failed) {
  if (!thread_.joinable()) return;
  rank_0_failed_ = failed;
  CHECK(eventfd_write(wake_, 1) == 0, "{}", std::strerror(errno));
  thread_.join();
}

bool RankWatch::killed(pid_t process) const {
  return std::ranges::find(killed_, process) != killed_.end();
}

void RankWatch::fail() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(failed_, true)) return;
  for (const auto& end : hooks_) end();
}

void RankWatch::watch(std::vector<ForkedRank> ranks) {
  std::optional<Clock::time_point> until;  // deadline after a failure
  bool through = false;                    // rank 0 is done
  while (!ranks.empty()) {
    std::vector<pollfd> waits = {{through ? -1 : wake_, POLLIN, 0}};
    for (const ForkedRank& rank : ranks) waits.push_back({rank.pipe, POLLIN, 0});
    const int ready = poll(waits.data(), waits.size(), milliseconds_to(until));
    CHECK(ready >= 0 || errno == EINTR, "{}", std::strerror(errno));
    if (ready < 0) continue;
    bool failed = false;
    if (waits.front().revents != 0) {
      through = true;
      failed = rank_0_failed_;
      if (!failed && !until) return;
    }
    failed = take_ended(waits, ranks) || failed;
    if (failed && !until) {
      fail();
      until = Clock::now() + kGrace;
    }
    if (!until || Clock::now() < *until) continue;
    for (const ForkedRank& rank : ranks) {
      kill(rank.process, SIGKILL);
      killed_.push_back(rank.process);
    }
    return;
  }
}

FailureHook::FailureHook(RankWatch* watch, std::function<void()> end) : watch_(watch) {
  if (watch_ == nullptr) return;
  const std::lock_guard lock(watch_->mutex_);
  if (watch_->failed_) end();
  place_ = watch_->hooks_.insert(watch_->hooks_.end(), std::move(end));
}

FailureHook::~FailureHook() {
  if (watch_ == nullptr) return;
  const std::lock_guard lock(watch_->mutex_);
  watch_->hooks_.erase(place_);
}

}  // namespace windtunnel
