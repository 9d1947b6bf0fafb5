// Orders from one period that repeats: every 1/m of the iteration each rank does F, I and W of each
// of its chunks once, for another micro-batch each: the building blocks of Qi et al., arXiv
// 2405.15362, for given times. The pattern is found by a dynamic program over the ranks, which
// tries every order of a rank's actions within the period (modulo scheduling). With one chunk per
// rank it has the least activations that such a pattern can have; with two, partial patterns are
// dropped where there are too many.
#pragma once

#include <string>
#include <vector>

#include "policies/schedules/schedules.hpp"

namespace windtunnel {

struct PeriodicOrder {
  std::string name;
  double period_s = 0;
  double peak_activation = 0;  // while it repeats, of the worst rank
  // The period repeated m times, actions by their time; evaluation closes the gaps at the ends.
  Schedule schedule;
};

// For one chunk per rank, or two in a V; none for other numbers of chunks. Within the memory limit
// where one is given, with a longer period if need be; those that differ in memory and period.
std::vector<PeriodicOrder> periodic_orders(const ScheduleRequest& request);

}  // namespace windtunnel
