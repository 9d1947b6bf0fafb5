// Pins ranks that stand for devices to a core each, if there are enough cores. Otherwise the
// scheduler would sometimes let two ranks share a core while another idles, and a rank that moves
// loses its caches and, between sockets, its local memory: devices have no such noise.
#pragma once

#include <sched.h>
#include <sys/types.h>

namespace windtunnel {

// The cores on which this process may run.
int usable_cores();

// While the object exists, the calling thread and threads that it starts run on the rank's core.
class OwnCore {
 public:
  OwnCore(int rank, int ranks);
  ~OwnCore();
  OwnCore(const OwnCore&) = delete;
  OwnCore& operator=(const OwnCore&) = delete;

 private:
  cpu_set_t before_;
};

// Forks as fork() does, but the child is killed when this process ends for any reason.
pid_t fork_child();
// Closes all descriptors that the child inherited, except the standard streams and this one, so
// that a living child keeps nothing else open.
void keep_only(int descriptor);

}  // namespace windtunnel
