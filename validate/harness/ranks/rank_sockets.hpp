// Connects every two ranks of a group: forked ranks over loopback ports that were opened before the
// fork, launched ranks through rank 0, whose place all know.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>  // Boost.Asio 1.74 forgets it
#include <vector>

#include "validate/harness/ranks/rank_place.hpp"

namespace windtunnel {

// [rank] Descriptors of connected TCP sockets, which the receiver must close; the own entry is -1.
using RankSockets = std::vector<int>;

// Disables pacing; for sockets between processes of one machine, before they connect. A congestion
// control that sends at an estimated rate (BBR, a common default) can stay at half the rate for
// seconds after a misleading one-way message, and a connection that began with pacing keeps it:
// after each pause the first megabyte took 1 ms longer. If Linux lacks the alternative, the default
// stays.
void send_unpaced(int descriptor);
// Sends small messages without delay, too (TCP_NODELAY).
void send_at_once(int descriptor);

// How many connecting processes a rank accepts before it checks again which ranks are there.
inline constexpr int kStrangersAtOnce = 16;

// The connections of a rank when all ranks are there.
struct MetRanks {
  RankSockets sockets;
  int listener = -1;  // for unknown processes that connect later; the receiver must close it
  int strangers = 0;  // rejected unknown processes so far
};

class ForkedRanks {
 public:
  explicit ForkedRanks(int ranks);
  ~ForkedRanks();
  // Each rank calls this after the fork.
  MetRanks connect(int rank) const;

 private:
  struct Ports;
  std::unique_ptr<Ports> ports_;
};

// Returns a random number that identifies processes of the run.
std::uint64_t run_secret();

struct RankAddress {
  std::string host;  // numeric address
  int port = 0;
};
// Connects ranks that know each other's addresses; this one listens only at its own. Throws Error
// if they are not all there in time.
MetRanks meet_ranks(int rank, const std::vector<RankAddress>& addresses, std::uint64_t secret,
                    double timeout_s);

// Throws Error if ranks are missing at the timeout, or do not belong together.
RankSockets find_ranks(const RankPlace& place, double timeout_s);

}  // namespace windtunnel
