#include "validate/harness/ranks/child_process.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace windtunnel {

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
