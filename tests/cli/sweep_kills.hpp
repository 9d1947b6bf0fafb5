// Kills sweeps and checks what is left of them.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace windtunnel {

// Runs the program as a child in the project's folder; the child can be sent signals.
class Running {
 public:
  explicit Running(const std::vector<std::string>& arguments);
  void send(int signal) const;
  // Returns its exit code; the negative signal number if it was killed.
  int wait() const;

 private:
  pid_t child_;
};

size_t lines_of(const std::string& path);

// Reads the files that a merge writes.
std::vector<std::string> merged_bytes(const std::string& folder);

// Runs the sweep without interruption in a new folder and returns the folder.
std::string whole_sweep(const std::string& grid, const std::string& name);

// Kills the sweep with SIGKILL at random moments, `kills` times, then resumes it: the merged bytes
// equal those of an uninterrupted sweep, and no finished point runs again.
void expect_sweep_survives_kills(const std::string& grid, size_t points, int kills);

}  // namespace windtunnel
