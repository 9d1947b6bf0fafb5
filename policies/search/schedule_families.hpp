// Orders made for the times and the memory limit of a request, where a search starts.
#pragma once

#include <string>
#include <vector>

#include "policies/search/split_order.hpp"

namespace windtunnel {

struct NamedOrder {
  std::string name;
  SplitOrder order;
};

// One chunk per rank: warm-up forwards that fall by a fixed slope from rank to rank, cut off where
// memory is full, then input gradient and forward in turn; slope 1 is 1F1B, 2 ZB-H2.
std::vector<NamedOrder> warm_up_orders(const ScheduleRequest& request);

// One chunk per rank, where messages take their sender's port: the passes of some micro-batches one
// way, then the other way, so that messages of both directions hardly meet; in the fewest equal
// rounds that memory allows, twice as many, and so on. Empty where messages are delays.
std::vector<NamedOrder> rounds_orders(const ScheduleRequest& request);

// The same rule on orders that exist: forwards a few places earlier on every rank as far as memory
// allows.
SplitOrder with_forwards_earlier(SplitOrder order, int places);

}  // namespace windtunnel
