// How a rank receives those above it, which connect to its port, among strangers who know neither
// the program nor the secret of the run.
#pragma once

#include <chrono>
#include <cstdint>

#include "validate/harness/ranks/rank_sockets.hpp"

namespace windtunnel {

// What a process says of itself when it connects. Both sides are of one program and kind of host.
struct Hello {
  std::uint64_t magic = 0x77696e6474756e6eULL;  // others find ports too
  std::uint64_t job = 0;
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  std::int32_t port = 0;  // where the rank listens for those above it
};
inline constexpr double kHelloS = 5;  // a stranger that says nothing holds up the others so long

// Fills in the sockets of the ranks above `own`, and counts the strangers that came meanwhile.
// Nobody waits for one that says nothing. Throws Error (failed) when some are missing by then.
void welcome_ranks(const Hello& own, int listening, std::chrono::steady_clock::time_point until,
                   MetRanks& met);

}  // namespace windtunnel
