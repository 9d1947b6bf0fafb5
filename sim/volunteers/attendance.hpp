// When peers join and leave in a trial: at exponential gaps, or as a trace of their number says.
// What they do meanwhile has no influence, so that all ways to place them meet the same peers.
#pragma once

#include <cstdint>
#include <vector>

#include "models/volunteers/volunteers.hpp"

namespace windtunnel {

struct AttendanceChange {
  double at_s = 0;
  bool joins = false;
  int kind = 0;
  // The place of a peer that leaves, among the present ones; the last of them then takes that
  // place.
  int place = 0;
};

// The kinds of the peers at the start, in their places.
std::vector<int> first_peers(const Volunteers& volunteers);

// Ascending, within Volunteers::length_s.
std::vector<AttendanceChange> attendance_changes(const Volunteers& volunteers, std::uint64_t trial);

}  // namespace windtunnel
