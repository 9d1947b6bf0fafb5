#include "validate/harness/execute/forked_run.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "models/base/error.hpp"
#include "validate/harness/execute/run_clock.hpp"
#include "validate/harness/ranks/own_core.hpp"
#include "validate/harness/ranks/tcp_group.hpp"

namespace windtunnel {
namespace {

using WatchClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{10};
// At most this much of the time between two checks counts as silence. In a longer time the watcher
// did not run, and the processes hardly did.
constexpr std::chrono::milliseconds kMostOfLook{50};
// A process to which the others lost their connection has this time to report its reason.
constexpr std::chrono::seconds kFollowers{2};
constexpr std::int64_t kBeforeStartNs = 30'000'000;

struct Watched {
  pid_t process = 0;
  ProcessState* state = nullptr;
  std::uint32_t signs = 0;
  WatchClock::duration silence = {};
  bool ended = false;
};

struct Fault {
  std::string words;
  bool follows = false;  // because of another process's fault
};

class ForkedRun {
 public:
  ForkedRun(int processes, std::string noun, const WatchRules& rules)
      : noun_(std::move(noun)),
        rules_(rules),
        memory_(sizeof(RunState) + static_cast<std::size_t>(processes) * sizeof(ProcessState)) {
    run_ = new (memory_.data()) RunState();
    run_->processes = processes;
    for (int i = 0; i < processes; ++i) {
      std::byte* at =
          memory_.data() + sizeof(RunState) + static_cast<std::size_t>(i) * sizeof(ProcessState);
      watched_.push_back({0, new (at) ProcessState()});
    }
  }

  ~ForkedRun() {
    for (Watched& each : watched_) {
      if (each.process > 0 && !each.ended) kill(each.process, SIGKILL);
    }
    for (Watched& each : watched_) {
      if (each.process > 0 && !each.ended) waitpid(each.process, nullptr, 0);
    }
  }
  ForkedRun(const ForkedRun&) = delete;
  ForkedRun& operator=(const ForkedRun&) = delete;

  void start(const std::function<void(int, const ForkedProcess&)>& body) {
    std::fflush(nullptr);
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      const pid_t process = fork_child();
      if (process < 0) {
        throw Error(fmt::format("cannot start a process for {} {} of {}: {}; take fewer", noun_, i,
                                watched_.size(), std::strerror(errno)),
                    ExitCode::failed);
      }
      if (process == 0) live(static_cast<int>(i), body);
      watched_[i].process = process;
    }
  }

  void watch() {
    looked_ = began_ = WatchClock::now();
    while (!all_ended()) {
      if (const std::optional<Fault> fault = look()) end_all(*fault);
      if (const std::optional<std::string> fault = standstill())
        throw Error(*fault, ExitCode::failed);
      if (run_->start_ns == 0 && all_here()) {
        if (rules_.at_start) rules_.at_start();
        run_->start_ns = RunClock::monotonic_ns() + kBeforeStartNs;
      }
      std::this_thread::sleep_for(run_->start_ns == 0 ? kLook / 10 : kLook);
    }
  }

 private:
  [[noreturn]] void live(int index, const std::function<void(int, const ForkedProcess&)>& body) {
    const ForkedProcess process(*run_, *watched_[static_cast<std::size_t>(index)].state);
    try {
      body(index, process);
    } catch (const std::exception& error) {
      process.fail(error);
    }
    _exit(0);
  }

  bool all_ended() const {
    return std::ranges::all_of(watched_, [](const Watched& each) { return each.ended; });
  }
  bool all_here() const {
    return std::ranges::all_of(watched_,
                               [](const Watched& each) { return each.state->here.load(); });
  }

  std::string name(std::size_t i) const { return fmt::format("{} {}", noun_, i); }

  // Returns a fault of one of the processes.
  std::optional<Fault> look() {
    const auto now = WatchClock::now();
    const auto passed = std::min<WatchClock::duration>(now - looked_, kMostOfLook);
    looked_ = now;
    std::optional<Fault> fault = ended_fault();
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      Watched& each = watched_[i];
      if (each.ended) continue;
      const std::uint32_t signs = each.state->signs;
      each.silence = signs != each.signs ? WatchClock::duration{} : each.silence + passed;
      each.signs = signs;
      if (!fault) fault = silence_fault(i, now);
    }
    return fault;
  }

  // Returns a fault of a process that has ended since the last check; if there are several, one
  // that is not a consequence of another.
  std::optional<Fault> ended_fault() {
    std::optional<Fault> fault;
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      Watched& each = watched_[i];
      int status = 0;
      if (each.ended || waitpid(each.process, &status, WNOHANG) != each.process) continue;
      each.ended = true;
      if (status != 0 && (!fault || fault->follows)) fault = {told(i, status), each.state->follows};
    }
    return fault;
  }

  std::optional<Fault> silence_fault(std::size_t i, WatchClock::time_point now) const {
    const Watched& each = watched_[i];
    const bool here = each.state->here;
    if (std::chrono::duration<double>(each.silence).count() >= rules_.silence_s) {
      if (!here) return Fault{fmt::format("{} did not start", name(i))};
      return Fault{
          fmt::format("{} has stopped: it gave no sign for {:.1f} s", name(i), rules_.silence_s)};
    }
    if (here || std::chrono::duration<double>(now - began_).count() < rules_.setup_s) return {};
    return Fault{fmt::format("{} is not ready: it is still setting up after {:.4g} s", name(i),
                             rules_.setup_s)};
  }

  // Reports that no process makes progress although none sleeps.
  std::optional<std::string> standstill() {
    std::uint64_t steps = 0;
    std::int64_t rest_until_ns = 0;
    for (const Watched& each : watched_) {
      steps += each.state->steps;
      rest_until_ns = std::max<std::int64_t>(rest_until_ns, each.state->sleeps_until_ns);
    }
    const std::int64_t now_ns = RunClock::monotonic_ns();
    if (steps != steps_ || run_->start_ns == 0) {
      steps_ = steps;
      got_on_ns_ = now_ns;
    }
    const std::int64_t still_ns = now_ns - std::max(got_on_ns_, rest_until_ns);
    if (static_cast<double>(still_ns) * 1e-9 < rules_.standstill_s) return {};
    return fmt::format("no rank has made progress for {:.1f} s: {}", rules_.standstill_s,
                       rules_.where ? rules_.where() : "the reason is unknown");
  }

  std::string told(std::size_t i, int status) const {
    const ProcessState& state = *watched_[i].state;
    if (state.failed) return fmt::format("{}: {}", name(i), state.message);
    if (WIFSIGNALED(status)) return fmt::format("{} ended by signal {}", name(i), WTERMSIG(status));
    return fmt::format("{} ended without a message", name(i));
  }

  // Processes that lost a connection report at once. This waits for the process that caused it,
  // whose message says more.
  [[noreturn]] void end_all(Fault fault) {
    const auto until = WatchClock::now() + kFollowers;
    while (fault.follows && !all_ended() && WatchClock::now() < until) {
      std::this_thread::sleep_for(kLook);
      const std::optional<Fault> other = ended_fault();
      if (other && !other->follows) fault = *other;
    }
    throw Error(fault.words, ExitCode::failed);
  }

  std::string noun_;
  const WatchRules& rules_;
  WatchClock::time_point began_, looked_;
  std::uint64_t steps_ = 0;  // sum over all processes
  std::int64_t got_on_ns_ = 0;
  SharedMemory memory_;
  RunState* run_ = nullptr;
  std::vector<Watched> watched_;
};

}  // namespace

SharedMemory::SharedMemory(std::size_t size_bytes) : size_bytes_(size_bytes) {
  void* const at =
      mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    throw Error(
        fmt::format("cannot get {} bytes of shared memory: {}", size_bytes, std::strerror(errno)),
        ExitCode::failed);
  }
  data_ = static_cast<std::byte*>(at);
}

SharedMemory::~SharedMemory() {
  munmap(data_, size_bytes_);
}

std::int64_t ForkedProcess::wait_for_start() const {
  own_.here = true;
  while (run_.start_ns == 0) {
    sign();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return run_.start_ns;
}

bool ForkedProcess::all_through(bool through) const {
  sign();
  if (through && !own_.through.exchange(true)) run_.through.fetch_add(1);
  return run_.through == run_.processes;
}

void ForkedProcess::fail(const std::exception& error) const {
  // Only the first of several threads reports. A connection that closes after all are through is
  // not a fault.
  if (run_.through == run_.processes) _exit(0);
  if (!own_.failed.exchange(true)) {
    own_.follows = dynamic_cast<const ConnectionLost*>(&error) != nullptr;
    std::strncpy(own_.message, error.what(), sizeof own_.message - 1);
    _exit(1);
  }
  for (;;) pause();  // the first thread ends the process when its message is written
}

SignsOfLife::SignsOfLife(const ForkedProcess& process)
    : thread_([&process](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          process.sign();
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
      }) {}

void run_forked(int processes, const std::string& noun,
                const std::function<void(int, const ForkedProcess&)>& body,
                const WatchRules& rules) {
  ForkedRun run(processes, noun, rules);
  run.start(body);
  run.watch();
}

}  // namespace windtunnel
