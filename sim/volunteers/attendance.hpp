// When peers join and leave in a trial: at exponential gaps, or by a trace of their number. This
// does not depend on what peers do, so all ways to place them have the same peers.
#pragma once

#include <cstdint>
#include <vector>

#include "models/volunteers/volunteers.hpp"

namespace windtunnel {

struct AttendanceChange {
  double at_s = 0;
  bool joins = false;
  int kind = 0;
  // Index of the leaving peer among the present ones; the last of them then takes that index.
  int place = 0;
};

// The kinds of the peers at the start, by index.
std::vector<int> first_peers(const Volunteers& volunteers);

// Ascending, within Volunteers::length_s.
std::vector<AttendanceChange> attendance_changes(const Volunteers& volunteers, std::uint64_t trial);

}  // namespace windtunnel
