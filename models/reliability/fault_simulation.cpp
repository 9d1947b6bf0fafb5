#include "models/reliability/fault_simulation.hpp"

#include <functional>
#include <queue>
#include <utility>

#include "models/base/error.hpp"
#include "models/reliability/failure_traits.hpp"
#include "models/reliability/victims.hpp"

namespace windtunnel {
namespace {

struct Source {
  Source(const FailureClass& of, int nodes, std::uint64_t seed, std::uint64_t stream)
      : failure_class(&of),
        arrivals(of, nodes, seed, stream),
        victims(of, nodes, seed, stream),
        repairs(seed, RandomPurpose::repair, stream) {
    for (int node = 0; node < nodes; ++node) {
      hazards.push_back(node_hazard(of, seed, stream, node));
    }
    arrivals.set_speed(0, victims.speed());
  }

  const FailureClass* failure_class;
  ArrivalStream arrivals;
  Victims victims;
  RandomStream repairs;
  std::vector<double> hazards;
};

class FailingNodes {
 public:
  FailingNodes(const std::vector<FailureClass>& classes, int nodes, std::uint64_t seed,
               std::uint64_t index)
      : down_(nodes, false) {
    for (std::size_t i = 0; i < classes.size(); ++i) {
      check_failure_class(classes[i]);
      if (!traits_of(classes[i].kind).of_nodes || is_reclaimed(classes[i])) continue;
      for (const int node : classes[i].trace_nodes) {
        if (node < nodes) continue;
        throw Error(
            fmt::format("failure class '{}': its trace names node {}, but the cluster has {} nodes",
                        classes[i].name, node, nodes));
      }
      sources_.emplace_back(classes[i], nodes, seed, (index << 16) | i);
    }
  }

  void run(double until_s, std::vector<NodeFault>& faults) {
    while (true) {
      Source* next = nullptr;
      for (Source& source : sources_) {
        if (next == nullptr || source.arrivals.next_s() < next->arrivals.next_s()) next = &source;
      }
      const double fault_s = next == nullptr ? until_s : next->arrivals.next_s();
      if (!back_.empty() && back_.top().first <= std::min(fault_s, until_s)) {
        set_down(back_.top().second, false, back_.top().first);
        back_.pop();
        continue;
      }
      if (fault_s >= until_s) return;
      fail(*next, fault_s, faults);
    }
  }

 private:
  void fail(Source& source, double at_s, std::vector<NodeFault>& faults) {
    const FailureClass& failure_class = *source.failure_class;
    const bool recorded =
        failure_class.arrivals == Arrivals::trace && !failure_class.trace_nodes.empty();
    if (recorded) {
      hit_.assign(1, failure_class.trace_nodes[source.arrivals.traced()]);
    } else {
      source.victims.draw(hit_);
    }
    source.arrivals.advance();
    const FailureTraits& traits = traits_of(failure_class.kind);
    for (const int node : hit_) {
      const double repair_s =
          traits.repaired() ? draw_repair_s(failure_class.repair, source.repairs) : 0;
      faults.push_back({at_s, repair_s, node, failure_class.name});
      if (!traits.takes_node || repair_s == 0 || down_[node]) continue;
      set_down(node, true, at_s);
      back_.emplace(at_s + repair_s, node);
    }
  }

  void set_down(int node, bool down, double at_s) {
    down_[node] = down;
    for (Source& source : sources_) {
      source.victims.set_hazard(node, down ? 0 : source.hazards[node]);
      source.arrivals.set_speed(at_s, source.victims.speed());
    }
  }

  std::vector<Source> sources_;
  std::vector<bool> down_;
  using Back = std::pair<double, int>;
  std::priority_queue<Back, std::vector<Back>, std::greater<>> back_;
  std::vector<int> hit_;
};

}  // namespace

FaultLog simulate_faults(const std::vector<FailureClass>& classes, int nodes, double span_s,
                         std::uint64_t seed, std::uint64_t index) {
  FaultLog log{"simulated", nodes, span_s, {}};
  FailingNodes(classes, nodes, seed, index).run(span_s, log.faults);
  return log;
}

}  // namespace windtunnel
