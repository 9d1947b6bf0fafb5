// Orders made for a request's times and memory limit, from which a search starts.
#pragma once

#include <string>
#include <vector>

#include "policies/search/split_order.hpp"

namespace windtunnel {

struct NamedOrder {
  std::string name;
  SplitOrder order;
};

// Orders with one chunk per rank. Warm-up forwards decrease by a fixed slope from rank to rank,
// limited by memory; then input gradients and forwards alternate. Slope 1 is 1F1B, 2 is ZB-H2.
std::vector<NamedOrder> warm_up_orders(const ScheduleRequest& request);

// Orders with one chunk per rank if messages occupy their sender's port. A rank runs the passes of
// some micro-batches in one direction, then in the other, so that messages of both directions
// rarely meet. One order has the fewest equal rounds that memory allows, the next one twice as
// many, and so on. Empty if messages are delays.
std::vector<NamedOrder> rounds_orders(const ScheduleRequest& request);

// Separates the directions in an existing order: moves forwards a few places earlier on every rank,
// as far as memory allows.
SplitOrder with_forwards_earlier(SplitOrder order, int places);

}  // namespace windtunnel
