// When peers join and leave in a trial: after exponential gaps, or by a trace of their number. This
// does not depend on what peers do, so trials of all ways to place them have the same peers.
#pragma once

#include <cstdint>
#include <vector>

#include "models/volunteers/volunteers.hpp"

namespace windtunnel {

struct AttendanceChange {
  double at_s = 0;
  bool joins = false;
  int kind = 0;
  // Index of the leaving peer among those present. The last of them then gets this index.
  int place = 0;
};

// Returns the kind of each peer at the start.
std::vector<int> first_peers(const Volunteers& volunteers);

// Returns the changes within Volunteers::length_s, ascending in time.
std::vector<AttendanceChange> attendance_changes(const Volunteers& volunteers, std::uint64_t trial);

}  // namespace windtunnel
