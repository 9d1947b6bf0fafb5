// Training on machines of volunteers, or others that come and go: unlike each other, behind links
// of their own. What a scenario says of them (`volunteers`); docs/physics/volunteers.md has the
// rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/choice.hpp"

namespace windtunnel {

// Peers that are alike. Each computes on one node of the job.
struct PeerKind {
  std::string name = {};
  int count = 0;     // at the start
  double speed = 1;  // of its kernels, over that of the job's node; 0: it only averages for others
  double up_Bps = 0;
  double down_Bps = 0;
  double latency_s = 0;    // of a message, one way
  double leave_per_s = 0;  // of each peer
  double join_per_s = 0;   // of the kind
};

// Peers that there are from a moment on, of a trace.
struct Attendance {
  double at_s = 0;
  int peers = 0;
};

// Which stage a peer that joins takes.
enum class Joiners { busiest, random };
template <>
inline constexpr Choice<Joiners> kChoices<Joiners>[] = {{"busiest", Joiners::busiest},
                                                        {"random", Joiners::random}};

// Many trainers at once, each of which asks experts on peers layer by layer (Learning@home).
struct ExpertCalls {
  int trainers = 1;
  int experts = 1;        // that a layer's input is sent to
  int answers = 1;        // that the trainer waits for
  double loss = 0;        // probability that a call is not answered
  double timeout_s = 10;  // until a trainer goes on with fewer answers
};

struct Volunteers {
  std::vector<PeerKind> peers;
  std::vector<Attendance> trace;  // ascending; empty: peers leave and join at their rates
  double length_s = 86400;
  int trials = 100;
  std::uint64_t seed = 1;
  double rebalance_s = 300;  // 0: peers stay with their stage
  Joiners joiners = Joiners::busiest;
  double move_s = -1;  // to take over a stage; below 0: its state comes over the peer's link
  std::optional<ExpertCalls> calls;
};

}  // namespace windtunnel
