#include "validate/harness/own_core.hpp"

#include <pthread.h>

#include <algorithm>

namespace windtunnel {
namespace {

cpu_set_t usable() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  // More cores than the set has room for: none is known, and nothing is pinned.
  pthread_getaffinity_np(pthread_self(), sizeof cores, &cores);
  return cores;
}

// A system that refuses leaves a rank where it is: slower to settle, but not wrong.
void run_on(const cpu_set_t& cores) {
  pthread_setaffinity_np(pthread_self(), sizeof cores, &cores);
}

}  // namespace

int usable_cores() {
  const cpu_set_t cores = usable();
  return std::max(1, CPU_COUNT(&cores));
}

OwnCore::OwnCore(int rank, int ranks) : before_(usable()) {
  if (ranks < 2 || ranks > CPU_COUNT(&before_)) return;
  int place = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &before_) || place++ != rank) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(core, &own);
    run_on(own);
    return;
  }
}

OwnCore::~OwnCore() {
  if (CPU_COUNT(&before_) > 0) run_on(before_);
}

}  // namespace windtunnel
