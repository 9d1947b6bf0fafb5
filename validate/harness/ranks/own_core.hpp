// Cores for ranks that stand for devices: each keeps one of its own, where there are enough. Left
// to the scheduler, two ranks would share a core now and then while another idles, and a rank that
// moves leaves its caches and, between sockets, its memory behind: noise that no device has.
#pragma once

#include <sched.h>

namespace windtunnel {

// That this process may run on.
int usable_cores();

// While it lives, the calling thread and those it starts run on the core of that place.
class OwnCore {
 public:
  OwnCore(int rank, int ranks);
  ~OwnCore();
  OwnCore(const OwnCore&) = delete;
  OwnCore& operator=(const OwnCore&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace windtunnel
