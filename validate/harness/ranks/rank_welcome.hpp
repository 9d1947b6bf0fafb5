// Accepts connections from the ranks above, among unknown processes that know neither the program
// nor the secret of the run.
#pragma once

#include <chrono>
#include <cstdint>

#include "validate/harness/ranks/rank_sockets.hpp"

namespace windtunnel {

// The first message of a connecting process. Both sides run the same program on the same kind of
// host.
struct Hello {
  std::uint64_t magic = 0x77696e6474756e6eULL;  // other programs may find the port, too
  std::uint64_t job = 0;
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  std::int32_t port = 0;  // where the rank listens for ranks above it
};
inline constexpr double kHelloS = 5;  // how long a silent unknown process is tolerated

// Fills in the sockets of the ranks above `own`, and counts unknown processes. A silent one does
// not block the others. Throws Error (failed) if ranks are missing at `until`.
void welcome_ranks(const Hello& own, int listening, std::chrono::steady_clock::time_point until,
                   MetRanks& met);

}  // namespace windtunnel
