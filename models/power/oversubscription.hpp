// Puts more servers into a row of racks than its power supply was planned for; a cap keeps them
// within it (POLCA: Patel et al., arXiv 2308.12908). The report tells how many fit without capping,
// and for more servers how often and how far all clocks are lowered, and how much time that costs.
//
// A supply is planned for each server at its power limit. Servers that train together are in the
// same phase at the same time, so their peaks add up. Servers that answer requests are in
// independent phases, so the sum stays near its mean (modelled as normal, for many independent
// servers).
#pragma once

#include <vector>

#include "models/power/power_curve.hpp"

namespace windtunnel {

// A phase of a server: its share of time, and the server's power in it.
struct LoadPhase {
  double share = 0;
  double W = 0;
  double by_clock = 1;  // share of the phase's time that is inversely proportional to the clock
};

struct RowLoad {
  double limit_W = 0;  // the power per server that the supply was planned for
  double base_W = 0;   // power of a server at the lowest clock, which capping cannot reduce
  std::vector<LoadPhase> phases;
  bool aligned = true;  // all servers in the same phase; otherwise independent
  double clock_power = 3;
};

struct RowReport {
  double fitting = 0;       // servers that fit without capping, relative to those planned for
  double peak = 0;          // peak power with the planned number of servers, relative to the plan
  double capped_share = 0;  // share of time with capping
  // the lowest clock; for independent servers, exceeded in all but 1 / 1,000 of the time
  double clock = 1;
  double slowdown = 1;  // mean slowdown of a server's work
  bool holds = true;    // false: no clock is low enough
};

// The report for `planned` servers and `more` times as many in addition.
RowReport oversubscribed(const RowLoad& load, int planned, double more);

// Mean power of one of `nodes` equal nodes, phase by phase, from the curve of all of them.
std::vector<LoadPhase> phases_of(const PowerCurve& curve, double nodes, double from_s, double to_s);

}  // namespace windtunnel
