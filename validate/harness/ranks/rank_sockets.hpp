// How the ranks of a group connect, each with each: forked ones over ports of the loopback that
// were opened before the fork, launched ones through rank 0, which all know where to find.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>  // Boost.Asio 1.74 forgets it
#include <vector>

#include "validate/harness/ranks/rank_place.hpp"

namespace windtunnel {

// Descriptors of connected TCP sockets by rank, to be closed by whoever gets them; the own one -1.
using RankSockets = std::vector<int>;

// For sockets between processes of one machine, before they connect. A congestion control that
// sends at a rate it has estimated (BBR, a common default) stays at half the rate for seconds once
// a one-way message misled it, and what it has begun to pace stays paced under any other: after
// each pause the first megabyte took 1 ms more. Where Linux lacks the other, the default stays.
void send_unpaced(int descriptor);
// Small messages, too.
void send_at_once(int descriptor);

// Of those that knock at a rank so many are let in between two looks at who is there already.
inline constexpr int kStrangersAtOnce = 16;

// What a rank has when all are there.
struct MetRanks {
  RankSockets sockets;
  int listener = -1;  // where whoever comes now is a stranger; to be closed by whoever gets it
  int strangers = 0;  // that came meanwhile: heard no further and sent away
};

class ForkedRanks {
 public:
  explicit ForkedRanks(int ranks);
  ~ForkedRanks();
  // Called by each rank after the fork.
  MetRanks connect(int rank) const;

 private:
  struct Ports;
  std::unique_ptr<Ports> ports_;
};

// Random: who does not know it is a stranger to the run.
std::uint64_t run_secret();

struct RankAddress {
  std::string host;  // in digits
  int port = 0;
};
// Ranks that know where each listens, this one at its own address alone. Throws Error when they are
// not all there in time.
MetRanks meet_ranks(int rank, const std::vector<RankAddress>& addresses, std::uint64_t secret,
                    double timeout_s);

// Throws Error when they are not all there in time, or do not belong together.
RankSockets find_ranks(const RankPlace& place, double timeout_s);

}  // namespace windtunnel
