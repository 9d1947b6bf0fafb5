// Training on machines of volunteers, or other machines that join and leave: of different speed,
// each behind its own internet link. These are the scenario's settings (`volunteers`); rules:
// docs/physics/volunteers.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/choice.hpp"

namespace windtunnel {

// Identical peers. Each computes on one node of the job's type.
struct PeerKind {
  std::string name = {};
  int count = 0;     // at the start
  double speed = 1;  // of its kernels relative to the job's node; 0: it only averages for others
  double up_Bps = 0;
  double down_Bps = 0;
  double latency_s = 0;    // of a message, one way
  double leave_per_s = 0;  // of each peer
  double join_per_s = 0;   // for the whole kind
};

// A trace entry that says how many peers there are from a time on.
struct Attendance {
  double at_s = 0;
  int peers = 0;
};

// Which stage a joining peer takes.
enum class Joiners { busiest, random };
template <>
inline constexpr Choice<Joiners> kChoices<Joiners>[] = {{"busiest", Joiners::busiest},
                                                        {"random", Joiners::random}};

// Many trainers, each of which calls experts on peers layer by layer (Learning@home).
struct ExpertCalls {
  int trainers = 1;
  int experts = 1;        // number of experts that a layer's input is sent to
  int answers = 1;        // number of answers that a trainer waits for
  double loss = 0;        // probability that a call is not answered
  double timeout_s = 10;  // after which a trainer continues with fewer answers
};

struct Volunteers {
  std::vector<PeerKind> peers;
  std::vector<Attendance> trace;  // ascending; empty: peers leave and join at their rates
  double length_s = 86400;
  int trials = 100;
  std::uint64_t seed = 1;
  double rebalance_s = 300;  // 0: peers never change their stage
  Joiners joiners = Joiners::busiest;
  // time to take over a stage; below 0: its state is downloaded over the peer's link
  double move_s = -1;
  std::optional<ExpertCalls> calls;
};

}  // namespace windtunnel
