// Processes that do not outlive the one that started them.
#pragma once

#include <sys/types.h>

namespace windtunnel {

// As fork(). The child is killed when this process ends, however it does.
pid_t fork_child();
// Of the child: closes what it inherited but the standard streams and this one, so that nothing
// stays open because it lives.
void keep_only(int descriptor);

}  // namespace windtunnel
