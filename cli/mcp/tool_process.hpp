// A command of this program in a process of its own, so that whatever becomes of it, the program
// that asked goes on.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace windtunnel {

struct ProcessOutput {
  int exit_code = -1;  // 128 and more: by a signal
  std::string out, err;
};

// Runs this program with these words; it reads nothing. Kills it once `cancelled`, and where it
// says more than 64 MiB. Throws Error (failed) where no process can be started.
ProcessOutput run_self(const std::vector<std::string>& words, const std::atomic<bool>& cancelled);

}  // namespace windtunnel
