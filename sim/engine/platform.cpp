#include "sim/engine/platform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>

#include "models/base/sanitizers.hpp"

namespace windtunnel {
namespace {

// With more actors, guard pages would exceed the kernel's limit of mappings per process (65,530,
// two per stack). Smaller runs of the same code are guarded against stack overflow.
constexpr std::size_t kGuardedActors = 8192;

// Dates closer than this count as equal in SimGrid. Its clock rounds when it advances to the next
// date. If a clock of many seconds passes a date by more than this, the event at that date never
// happens. The value therefore follows the longest sleep or transfer: it is far below a rounding
// error of their results, and above that of a clock a thousand times as long.
double precision_s(const Folding& folding, double longest_s) {
  for (const WeightedLink& link : folding.links) {
    longest_s = std::max(
        longest_s, folding.largest_amount[link.link] * link.weight / folding.capacity[link.link]);
  }
  return std::max(1e-12, std::ldexp(longest_s, -43));
}

// SimGrid's fastest context switch is in assembly of its own, which exists only for x86.
#ifdef __x86_64__
constexpr const char* kContexts = "--cfg=contexts/factory:raw";
#else
constexpr const char* kContexts = "--cfg=contexts/factory:boost";
#endif

std::vector<std::string> configuration(std::size_t actors, double precision_s) {
  std::vector<std::string> arguments = {
      "windtunnel",
      // Suppresses two messages of SimGrid: warnings that a sleep is shorter than its precision,
      // which does not matter here, and its deadlock report, which one in terms of the Plan
      // replaces.
      "--log=root.thres:critical",
      "--log=root.app:file:/dev/null",
      "--cfg=network/model:CM02",
      "--cfg=network/crosstraffic:0",
      "--cfg=network/TCP-gamma:0",
      "--cfg=network/weight-S:0",
      "--cfg=network/latency-factor:1",
      "--cfg=network/bandwidth-factor:1",
      fmt::format("--cfg=surf/precision:{:g}", precision_s),
      "--cfg=maxmin/precision:1e-12",
      "--cfg=debug/verbose-exit:0",
  };
  if (kAddressSanitizer || kThreadSanitizer) {
    arguments.push_back("--cfg=contexts/factory:thread");  // they know only the stacks of threads
  } else {
    arguments.push_back(kContexts);
    arguments.push_back("--cfg=contexts/stack-size:16");
  }
  arguments.push_back(actors <= kGuardedActors ? "--cfg=contexts/guard-size:1"
                                               : "--cfg=contexts/guard-size:0");
  return arguments;
}

std::unique_ptr<simgrid::s4u::Engine> make_engine(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  return std::make_unique<simgrid::s4u::Engine>(&count, pointers.data());
}

// SimGrid 4 calls add_host() what SimGrid 3 calls create_host(). Either version lacks the other
// name or warns of it.
template <class Zone>
simgrid::s4u::Host* new_host(Zone& zone, const std::string& name) {
  const std::vector<double> speeds = {1.0};
  if constexpr (requires { zone.add_host(name, speeds); }) {
    return zone.add_host(name, speeds);
  } else {
    return zone.create_host(name, speeds);
  }
}

template <class Zone>
simgrid::s4u::Link* new_link(Zone& zone, const std::string& name, double bandwidth) {
  const std::vector<double> bandwidths = {bandwidth};
  if constexpr (requires { zone.add_link(name, bandwidths); }) {
    return zone.add_link(name, bandwidths);
  } else {
    return zone.create_link(name, bandwidths);
  }
}

template <class Engine, class Actor>
simgrid::s4u::ActorPtr new_actor(const std::string& name, simgrid::s4u::Host* host,
                                 const std::function<void()>& code) {
  if constexpr (requires { Engine::add_actor(name, host, code); }) {
    return Engine::add_actor(name, host, code);
  } else {
    return Actor::create(name, host, code);
  }
}

}  // namespace

class RouteZone : public simgrid::kernel::routing::NetZoneImpl {
 public:
  explicit RouteZone(const Folding& folding) : NetZoneImpl("windtunnel"), folding_(folding) {}

  // SimGrid never lets a transfer go faster than the links of its route were when it started,
  // whatever its weights are. A link with bursts therefore has a multiple of its speed, and weights
  // on it have the same multiple, so that the limit is right between bursts and during them.
  int repeats(std::size_t link) const {
    if (folding_.bursts.empty()) return 1;
    return static_cast<int>(std::ceil(1 / (1 - folding_.bursts[link].most) - 1e-9));
  }

  void add_link(double bandwidth) {
    bandwidth *= repeats(links_.size());
    NetZoneImpl& zone = *this;
    simgrid::s4u::Link* link = new_link(zone, fmt::format("l{}", links_.size()), bandwidth);
    links_.push_back(link->set_latency(0)->seal());
  }

  void set_bandwidth(std::size_t link, double bandwidth) {
    links_[link]->set_bandwidth(bandwidth * repeats(link));
  }

  // The route from a host to itself is that of the flow with the host's number.
  void get_local_route(const simgrid::kernel::routing::NetPoint* from,
                       const simgrid::kernel::routing::NetPoint*,
                       simgrid::kernel::routing::Route* into, double*) override {
    const std::size_t flow = from->id();
    for (std::uint32_t i = folding_.first_link[flow]; i < folding_.first_link[flow + 1]; ++i) {
      const WeightedLink& link = folding_.links[i];
      into->link_list_.insert(into->link_list_.end(), std::size_t(link.weight) * repeats(link.link),
                              links_[link.link]->get_impl());
    }
  }

 private:
  const Folding& folding_;
  std::vector<simgrid::s4u::Link*> links_;
};

Platform::Platform(const Folding& folding, std::size_t actors, double longest_s)
    : folding_(folding),
      engine_(make_engine(configuration(actors, precision_s(folding, longest_s)))) {
  scale_links();
  // SimGrid 3 makes the first zone its root, SimGrid 4 has a root. The root deletes the others.
  zone_ = new RouteZone(folding);
  simgrid::kernel::routing::NetZoneImpl* root = engine_->get_netzone_root()->get_impl();
  if (root != zone_) zone_->set_parent(root);
  const std::size_t hosts = std::max<std::size_t>(1, folding.first_link.size() - 1);
  for (std::size_t h = 0; h < hosts; ++h) {
    hosts_.push_back(new_host(*zone_, fmt::format("h{}", h))->seal());
  }
  for (std::size_t l = 0; l < folding.capacity.size(); ++l) {
    zone_->add_link(folding.capacity[l] * scale_[l]);
  }
  zone_->seal();
}

void Platform::scale_links() {
  std::vector<std::int32_t> root(folding_.capacity.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&root](std::int32_t link) {
    while (root[link] != link) link = root[link] = root[root[link]];
    return link;
  };
  for (std::size_t f = 0; f + 1 < folding_.first_link.size(); ++f) {
    for (std::uint32_t i = folding_.first_link[f] + 1; i < folding_.first_link[f + 1]; ++i) {
      root[find(folding_.links[i].link)] = find(folding_.links[i - 1].link);
    }
  }
  std::vector<double> largest(root.size(), 0);
  for (std::size_t l = 0; l < root.size(); ++l) {
    double& amount = largest[find(static_cast<std::int32_t>(l))];
    amount = std::max(amount, folding_.largest_amount[l]);
  }
  for (std::size_t l = 0; l < root.size(); ++l) {
    const double amount = largest[find(static_cast<std::int32_t>(l))];
    scale_.push_back(amount > 0 ? std::exp2(60 - std::ilogb(amount)) : 1);
  }
}

bool Platform::has_links(FlowIndex flow) const {
  return folding_.first_link[flow] < folding_.first_link[flow + 1];
}

void Platform::set_share(std::size_t link, double share) {
  zone_->set_bandwidth(link, folding_.capacity[link] * scale_[link] * share);
}

simgrid::s4u::ActorPtr Platform::start_actor(const std::string& name,
                                             const std::function<void()>& code) {
  return new_actor<simgrid::s4u::Engine, simgrid::s4u::Actor>(name, hosts_.front(), code);
}

simgrid::s4u::Mailbox* Platform::mailbox(std::size_t actor) {
  return simgrid::s4u::Mailbox::by_name(fmt::format("m{}", actor));
}

LinkTransfer Platform::transfer(simgrid::s4u::Mailbox* mailbox, FlowIndex flow, double amount) {
  const double scale = scale_[folding_.links[folding_.first_link[flow]].link];
  const auto size = std::max<std::uint64_t>(1, std::llround(amount * scale));
  if (simgrid::s4u::this_actor::get_host() != hosts_[flow]) {
    simgrid::s4u::this_actor::set_host(hosts_[flow]);
  }
  LinkTransfer transfer;
  transfer.out = mailbox->put_async(this, size);
  transfer.in = mailbox->get_init()->set_dst_data(&payload_, sizeof(payload_));
  return transfer;
}

}  // namespace windtunnel
