#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "validate/harness/ranks/own_core.hpp"

namespace windtunnel {
namespace {

TEST(ChildProcess, EndsWithItsParent) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // adopts orphans of the child
  const pid_t parent = fork();
  if (parent == 0) {
    if (fork_child() == 0) {
      for (;;) pause();
    }
    _exit(0);
  }
  ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
  int status = 0;
  pid_t ended = 0;
  for (int look = 0; look < 30'000 && ended == 0; ++look) {
    ended = waitpid(-1, &status, WNOHANG);
    if (ended == 0) usleep(1000);
  }
  ASSERT_GT(ended, 0);
  // The child ends by the signal, or by itself if its parent ended before the child could ask for
  // the signal.
  EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 1);
}

TEST(ChildProcess, KeepsOneDescriptorAlone) {
  std::array<int, 2> kept = {}, other = {};
  ASSERT_EQ(pipe(kept.data()), 0);
  ASSERT_EQ(pipe(other.data()), 0);
  const pid_t child = fork_child();
  if (child == 0) {
    keep_only(kept[1]);
    _exit(write(kept[1], "y", 1) == 1 && write(other[1], "y", 1) < 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (const auto& ends : {kept, other}) {
    for (const int end : ends) close(end);
  }
}

}  // namespace
}  // namespace windtunnel
