// The stages of a model, each served by many peers (SWARM, arXiv 2301.11913, section 3.2).
// Micro-batches are distributed over the peers of a stage in proportion to their speed, so a stage
// is as fast as its peers together, and the whole as its slowest stage. At regular times one peer
// of the stage with the most spare capacity moves to the one with the least, if that speeds up the
// slower of the two; joining peers go there too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/base/units.hpp"
#include "models/volunteers/peer_work.hpp"
#include "sim/volunteers/attendance.hpp"

namespace windtunnel {

struct Swarm {
  std::vector<int> first;                       // first_peers()
  std::vector<std::vector<double>> rates = {};  // [kind][stage] peer_rate()
  std::vector<std::vector<double>> takeover_s = {};
  double length_s = 0;
  double rebalance_s = 0;  // 0: never
  // Micro-batches per second whose gradients the peers can average while computing.
  double averaged_rate = kInfinity;
  Joiners joiners = Joiners::busiest;
  std::uint64_t seed = 1;
  int stages() const { return static_cast<int>(rates.front().size()); }
};
Swarm swarm_of(const Volunteers& volunteers, const std::vector<StageWork>& works);

// Micro-batches per second if these peers, [kind] of them, were assigned optimally: fastest first,
// each to the stage that is slowest by then. For identical peers this is optimal.
double balanced_rate(const Swarm& swarm, const std::vector<int>& counts);

struct SwarmTrial {
  double done = 0;      // micro-batches that passed all stages
  double averaged = 0;  // the same, limited to Swarm::averaged_rate
  double possible = 0;  // by balanced_rate() of the peers at every moment
  double peers = 0;     // on average
  double empty_s = 0;   // time in which some stage had no peer able to serve it
  int moves = 0;        // number of moves from stage to stage
  double done_share() const { return possible > 0 ? done / possible : 0; }
};
SwarmTrial run_swarm(const Swarm& swarm, std::span<const AttendanceChange> changes,
                     std::uint64_t trial);

}  // namespace windtunnel
