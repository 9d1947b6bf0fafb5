// The machine as SimGrid sees it: links with latency 0 and one zone that knows every route. A route
// is named by a pair of hosts, so that n routes need only sqrt(n) hosts; hosts do nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/engine/fold.hpp"

namespace windtunnel {

class RouteZone;

class Platform {
 public:
  // Configures SimGrid and builds the links; once per process. `actors` decides whether their
  // stacks get guard pages.
  Platform(const Folding& folding, std::size_t actors);

  simgrid::s4u::Engine& engine() { return *engine_; }
  simgrid::s4u::Host* host() { return hosts_.front(); }  // where the actors live
  bool has_links(FlowIndex flow) const;
  // Starts the transfer of `amount` units over the route of the flow, which has links. Only actors
  // may call it, and must hold the pointer until the transfer has ended.
  simgrid::s4u::CommPtr start_transfer(FlowIndex flow, double amount);

 private:
  void scale_links();

  const Folding& folding_;
  std::unique_ptr<simgrid::s4u::Engine> engine_;
  RouteZone* zone_ = nullptr;  // owned by SimGrid
  std::vector<simgrid::s4u::Host*> hosts_;
  // SimGrid counts transfers in whole bytes. Our units also are SM-seconds, so amounts and
  // capacities are scaled up by a power of two, the same for all links that flows connect.
  std::vector<double> scale_;  // [folded link]
};

}  // namespace windtunnel
