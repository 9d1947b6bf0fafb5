// Runs a command of this program in a separate process, so that the caller survives its failure.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace windtunnel {

struct ProcessOutput {
  int exit_code = -1;  // 128 + n: ended by signal n
  std::string out, err;
};

// Runs this program with these words and empty input. Kills it once `cancelled`, or if it writes
// more than 64 MiB. Throws Error (failed) if no process can be started.
ProcessOutput run_self(const std::vector<std::string>& words, const std::atomic<bool>& cancelled);

}  // namespace windtunnel
