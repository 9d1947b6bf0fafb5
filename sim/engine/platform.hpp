// The machine in SimGrid: links with latency 0, one zone that knows every route, and one host per
// route (a host costs 1.5 KB and 5 us, and is used for nothing else).
// A transfer is a message that an actor on the route's host sends to itself through its mailbox.
// Comm::sendto would be simpler, but SimGrid 3.32 treats it as detached: it is kept in one list of
// all such transfers, which every completion searches (measured with 16,384 at a time: 92 us per
// transfer and sleep, against 15 us this way), and it ignores set_rate.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "sim/engine/fold.hpp"

namespace windtunnel {

class RouteZone;

// The sending and the receiving end of a transfer. The object must live until the transfer has
// ended. start() begins the transfer. wait() returns when it has ended; if start() was not called,
// wait() begins it, which saves a context switch.
struct LinkTransfer {
  simgrid::s4u::CommPtr out;
  simgrid::s4u::CommPtr in;
  void start() { in->start(); }
  void wait() { in->wait(); }
};

class Platform {
 public:
  // Configures SimGrid and builds the links, once per process. `actors` determines whether stacks
  // get guard pages; `longest_s`, the longest sleep, the precision of dates.
  Platform(const Folding& folding, std::size_t actors, double longest_s);

  simgrid::s4u::Engine& engine() { return *engine_; }
  // Starts an actor on the one host that all actors share.
  simgrid::s4u::ActorPtr start_actor(const std::string& name, const std::function<void()>& code);
  simgrid::s4u::Mailbox* mailbox(std::size_t actor);  // mailbox of the actor with this number
  // Sets the share of a link's capacity that is available. Only an actor may call it.
  void set_share(std::size_t link, double share);
  bool has_links(FlowIndex flow) const;
  // Returns the transfer of `amount` units over the route of the flow, which must have links. Only
  // an actor may call it, with its own mailbox.
  LinkTransfer transfer(simgrid::s4u::Mailbox* mailbox, FlowIndex flow, double amount);

 private:
  void scale_links();

  const Folding& folding_;
  std::unique_ptr<simgrid::s4u::Engine> engine_;
  RouteZone* zone_ = nullptr;               // owned by SimGrid
  std::vector<simgrid::s4u::Host*> hosts_;  // [folded flow], at least one
  void* payload_ = nullptr;                 // dummy payload of transfers
  // SimGrid counts transfers in whole bytes. Units here include SM-seconds, so amounts and
  // capacities are scaled up by a power of two, which is the same for all links that flows connect.
  std::vector<double> scale_;  // [folded link]
};

}  // namespace windtunnel
