// Child processes that do not outlive their parent.
#pragma once

#include <sys/types.h>

namespace windtunnel {

// As fork(), but the child is killed when this process ends for any reason.
pid_t fork_child();
// For the child: closes all inherited descriptors except the standard streams and this one, so that
// its life keeps nothing else open.
void keep_only(int descriptor);

}  // namespace windtunnel
