#include "validate/harness/ranks/own_core.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace windtunnel {
namespace {

cpu_set_t usable() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  // If there are more cores than the set can hold, it stays empty and nothing is pinned.
  pthread_getaffinity_np(pthread_self(), sizeof cores, &cores);
  return cores;
}

// If the system refuses, the rank is not pinned: noisier, but not wrong.
void run_on(const cpu_set_t& cores) {
  pthread_setaffinity_np(pthread_self(), sizeof cores, &cores);
}

// Reads the first number of "0,64" or "0-1".
int first_thread_of_core(int thread) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(thread) +
                     "/topology/thread_siblings_list");
  int first = thread;
  return file >> first ? first : thread;
}

// Returns threads in the order in which ranks take them: one thread of each core first, because two
// threads of a core share it.
std::vector<int> threads_of(const cpu_set_t& usable) {
  std::vector<int> threads;
  std::set<int> cores;
  std::vector<int> seconds;
  for (int thread = 0; thread < CPU_SETSIZE; ++thread) {
    if (!CPU_ISSET(thread, &usable)) continue;
    (cores.insert(first_thread_of_core(thread)).second ? threads : seconds).push_back(thread);
  }
  threads.insert(threads.end(), seconds.begin(), seconds.end());
  return threads;
}

}  // namespace

int usable_cores() {
  const cpu_set_t cores = usable();
  return std::max(1, CPU_COUNT(&cores));
}

OwnCore::OwnCore(int rank, int ranks) : before_(usable()) {
  if (ranks < 2 || ranks > CPU_COUNT(&before_)) return;
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(threads_of(before_)[static_cast<std::size_t>(rank)], &own);
  run_on(own);
}

OwnCore::~OwnCore() {
  if (CPU_COUNT(&before_) > 0) run_on(before_);
}

pid_t fork_child() {
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process != 0) return process;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent ended before the request
  return 0;
}

void keep_only(int descriptor) {
  const auto kept = static_cast<unsigned>(descriptor);
  if (kept > 3) close_range(3, kept - 1, 0);
  close_range(kept + 1, ~0U, 0);
}

}  // namespace windtunnel
