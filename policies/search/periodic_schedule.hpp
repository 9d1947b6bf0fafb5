// Orders with a repeating period: in every period, 1/m of the iteration, each rank runs F, I and W
// of each of its chunks once, each for another micro-batch. These are the building blocks of Qi et
// al., arXiv 2405.15362, for given times. A dynamic program over the ranks finds the pattern; it
// tries every order of a rank's actions within the period (modulo scheduling). With one chunk per
// rank it finds the least activations of any such pattern. With two chunks it drops partial
// patterns if there are too many.
#pragma once

#include <string>
#include <vector>

#include "policies/schedules/schedules.hpp"

namespace windtunnel {

struct PeriodicOrder {
  std::string name;
  double period_s = 0;
  double peak_activation = 0;  // of the fullest rank, in steady state
  // The period repeated m times, with actions in order of time. Evaluation closes gaps at the ends.
  Schedule schedule;
};

// Returns orders for one chunk per rank, or two in a V; none for other numbers. If there is a
// memory limit, all orders respect it, with a longer period if necessary. They differ in memory and
// period.
std::vector<PeriodicOrder> periodic_orders(const ScheduleRequest& request);

}  // namespace windtunnel
