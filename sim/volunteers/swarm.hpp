// The stages of a model, each served by many peers (SWARM, arXiv 2301.11913, section 3.2).
// Micro-batches are distributed over the peers of a stage in proportion to their speed, so a stage
// is as fast as its peers together, and the swarm is as fast as its slowest stage. At regular times
// one peer moves from the stage with the most spare capacity to the one with the least, if that
// makes the slower of the two faster. Joining peers also go to the stage with the least.
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
  // Micro-batches per second whose gradients the peers can average while they compute.
  double averaged_rate = kInfinity;
  Joiners joiners = Joiners::busiest;
  std::uint64_t seed = 1;
  int stages() const { return static_cast<int>(rates.front().size()); }
};
Swarm swarm_of(const Volunteers& volunteers, const std::vector<StageWork>& works);

// Returns the micro-batches per second of these peers ([kind]) if assigned optimally: fastest
// first, each to the stage that is slowest by then. This is optimal if peers are identical.
double balanced_rate(const Swarm& swarm, const std::vector<int>& counts);

struct SwarmTrial {
  double done = 0;      // micro-batches that passed all stages
  double averaged = 0;  // the same, but no faster than Swarm::averaged_rate
  double possible = 0;  // sum over time of balanced_rate() of the peers present
  double peers = 0;     // number of peers, on average
  double empty_s = 0;   // time in which no peer could serve some stage
  int moves = 0;        // number of moves from stage to stage
  double done_share() const { return possible > 0 ? done / possible : 0; }
};
SwarmTrial run_swarm(const Swarm& swarm, std::span<const AttendanceChange> changes,
                     std::uint64_t trial);

}  // namespace windtunnel
