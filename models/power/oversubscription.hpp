// More servers in a row of racks than its supply was planned for, and a cap that keeps them within
// it (POLCA: Patel et al., arXiv 2308.12908): how many fit without ever being capped, and with more
// of them how often and how deep the clocks of all fall, and what that costs in time.
//
// A supply is planned for what a server draws at its limit. Servers that train together are in the
// same phase at the same time, so that their peaks add up; servers that answer requests are each in
// a phase of their own, so that the sum keeps near its mean (here normal, as of many independent
// ones).
#pragma once

#include <vector>

#include "models/power/power_curve.hpp"

namespace windtunnel {

// The power of a server, and the share of the time that it lasts.
struct LoadPhase {
  double share = 0;
  double W = 0;
  double by_clock = 1;  // share of the phase's time that grows as the clock falls
};

struct RowLoad {
  double limit_W = 0;  // power of a server that the supply was planned for
  double base_W = 0;   // power of a server at the lowest clock, which no cap removes
  std::vector<LoadPhase> phases;
  bool aligned = true;  // all servers in one phase; otherwise each by itself
  double clock_power = 3;
};

struct RowReport {
  double fitting = 0;       // servers that fit without a cap, over those planned for
  double peak = 0;          // with as many as were planned for, over what was planned
  double capped_share = 0;  // of the time
  double clock = 1;         // the lowest: of servers that are not aligned, in all but 1 / 1,000
  double slowdown = 1;      // of the work of a server, on average
  bool holds = true;        // otherwise no clock is low enough
};

// With `more` servers, as a share of the `planned` ones.
RowReport oversubscribed(const RowLoad& load, int planned, double more);

// Average power of one of `nodes` equal nodes, phase by phase, from a curve of all of them.
std::vector<LoadPhase> phases_of(const PowerCurve& curve, double nodes, double from_s, double to_s);

}  // namespace windtunnel
