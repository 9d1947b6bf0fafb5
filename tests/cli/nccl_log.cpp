#include "tests/cli/nccl_log.hpp"

#include <fmt/format.h>

#include <fstream>

namespace windtunnel {

std::string nccl_log(const std::string& folder, const std::string& name, const std::string& title,
                     double bus) {
  const std::string path = folder + "/" + name;
  std::ofstream out(path);
  out << title << "# Using devices\n";
  for (int rank = 0; rank < 16; ++rank) {
    out << fmt::format("#  Rank {} Group 0 Pid 1 on host{} device {} [0x04] NVIDIA H100\n", rank,
                       rank / 8, rank % 8);
  }
  out << "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw "
         "#wrong\n";
  for (const double bytes : {1048576.0, 16777216.0, 268435456.0}) {
    const double us = 100 + bytes / 4e4;
    const std::string half =
        fmt::format("{:.2f} {:.2f} {:.2f} 0", us, bytes / us / 1e3, bytes / us / 1e3 * bus);
    out << fmt::format("{:.0f} {:.0f} float sum -1 {} {}\n", bytes, bytes / 4, half, half);
  }
  return path;
}

}  // namespace windtunnel
