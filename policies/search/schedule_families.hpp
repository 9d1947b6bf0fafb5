// Orders constructed for a request's times and memory limit, from which a search starts.
#pragma once

#include <string>
#include <vector>

#include "policies/search/split_order.hpp"

namespace windtunnel {

struct NamedOrder {
  std::string name;
  SplitOrder order;
};

// One chunk per rank: the number of warm-up forwards decreases by a fixed slope from rank to rank,
// limited by memory; then input gradients and forwards alternate. Slope 1 is 1F1B, 2 is ZB-H2.
std::vector<NamedOrder> warm_up_orders(const ScheduleRequest& request);

// One chunk per rank, if messages occupy their sender's port: a rank runs the passes of some
// micro-batches in one direction, then in the other, so that messages of both directions rarely
// meet. There is an order with the fewest equal rounds that memory allows, one with twice as many,
// and so on. Empty if messages are delays.
std::vector<NamedOrder> rounds_orders(const ScheduleRequest& request);

// The same idea for existing orders: moves forwards a few places earlier on every rank as far as
// memory allows.
SplitOrder with_forwards_earlier(SplitOrder order, int places);

}  // namespace windtunnel
