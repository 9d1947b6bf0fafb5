#include "sim/engine/flow_table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Where a plan copies over PCIe, NICs share that way. Elsewhere they do not need the links: a NIC
// is no faster than the PCIe links it hangs below.
bool copies_over_pcie(const Plan& plan) {
  const auto over_pcie = [](const Demand& demand) {
    return demand.resource == Resource::pcie_out || demand.resource == Resource::pcie_in;
  };
  for (const RankClass& rank_class : plan.classes) {
    for (const Task& task : rank_class.tasks) {
      for (const Flow& flow : task.flows) {
        if (std::ranges::any_of(flow.demands, over_pcie)) return true;
      }
    }
  }
  return false;
}

class FlowTableBuilder {
 public:
  FlowTableBuilder(const Plan& plan, const Cluster& cluster, const Calibration& calibration)
      : plan_(plan),
        cluster_(cluster),
        calibration_(calibration),
        link_table_(cluster, copies_over_pcie(plan)) {}

  FlowTable build() {
    table_.classes.resize(plan_.classes.size());
    table_.collective_of.resize(plan_.classes.size());
    table_.groups.resize(plan_.groups.size());
    uncoupled_.resize(plan_.groups.size());
    dense_of_link_.assign(link_table_.count(), -1);
    for (size_t c = 0; c < plan_.classes.size(); ++c) {
      add_messages(c);
      add_demands(c);
      add_collectives(c);
    }
    prune_links();
    couple_edges();
    return std::move(table_);
  }

 private:
  // A pattern while each of its edges is a flow of its own: first_flow + e carries edges[e].
  struct Uncoupled {
    FlowIndex first_flow = 0;
    std::vector<CollectiveEdge> edges;
    bool pairs_are_independent = false;
  };

  // Closes the route in route_ as the next flow; `amount` is the largest that it will carry.
  FlowIndex add_flow(double amount) {
    for (LinkId link : route_) table_.links.push_back(dense_link(link, amount));
    CHECK(table_.links.size() < UINT32_MAX, "{} links in routes", table_.links.size());
    table_.first_link.push_back(static_cast<std::uint32_t>(table_.links.size()));
    return table_.flows() - 1;
  }

  std::int32_t dense_link(LinkId link, double amount) {
    std::int32_t& dense = dense_of_link_[link];
    if (dense < 0) {
      const double capacity = link_table_.capacity(link);
      if (!(capacity > 0)) {
        throw Error(fmt::format("the plan sends data over '{}', which has no bandwidth",
                                link_table_.name(link)));
      }
      dense = add_link(capacity);
    }
    table_.largest_amount[dense] = std::max(table_.largest_amount[dense], amount);
    return dense;
  }

  std::int32_t add_link(double capacity) {
    table_.capacity.push_back(capacity);
    table_.largest_amount.push_back(0);
    return static_cast<std::int32_t>(table_.capacity.size() - 1);
  }

  void add_messages(size_t c) {
    const RankClass& rank_class = plan_.classes[c];
    std::vector<double> largest(rank_class.peers.size(), 0);
    for (const Task& task : rank_class.tasks) {
      if (task.kind != TaskKind::send) continue;
      double& bytes = largest[task.peer_slot];
      bytes = std::max(bytes, task.bytes);
    }
    std::vector<FlowIndex>& message = table_.classes[c].message;
    message.assign(rank_class.peers.size(), -1);
    for (size_t slot = 0; slot < largest.size(); ++slot) {
      if (largest[slot] <= 0) continue;
      message[slot] = table_.flows();
      for (size_t i = 0; i < rank_class.members.size(); ++i) {
        route_.clear();
        link_table_.append_route(rank_class.members[i], rank_class.peers[slot][i], route_);
        add_flow(largest[slot]);
      }
    }
  }

  void add_demands(size_t c) {
    const RankClass& rank_class = plan_.classes[c];
    table_.classes[c].demand.resize(rank_class.tasks.size());
    for (size_t t = 0; t < rank_class.tasks.size(); ++t) {
      const Task& task = rank_class.tasks[t];
      for (const Flow& flow : task.flows) {
        table_.classes[c].demand[t].push_back(table_.flows());
        for (RankId rank : rank_class.members) add_demand(rank, task, flow);
      }
    }
  }

  void add_demand(RankId rank, const Task& task, const Flow& flow) {
    route_.clear();
    for (const Demand& demand : flow.demands) {
      for (int k = 0; k < demand.weight; ++k) {
        link_table_.append_resource(rank, demand.resource, route_);
      }
    }
    const double slowdown = slowed_by_node(task.kind) ? cluster_.slowdown_of(rank) : 1;
    const FlowIndex index = add_flow(flow.amount * slowdown);
    if (std::isinf(flow.max_rate)) return;
    // SimGrid ignores the rate of a transfer between hosts: a link of its own caps the flow.
    const std::int32_t cap = add_link(flow.max_rate);
    table_.largest_amount[cap] = flow.amount * slowdown;
    table_.links.push_back(cap);
    table_.first_link[index + 1] = static_cast<std::uint32_t>(table_.links.size());
  }

  void add_collectives(size_t c) {
    const RankClass& rank_class = plan_.classes[c];
    table_.collective_of[c].assign(rank_class.tasks.size(), -1);
    for (size_t t = 0; t < rank_class.tasks.size(); ++t) {
      const Task& task = rank_class.tasks[t];
      if (task.kind != TaskKind::collective || !task.as_flows || task.bytes <= 0) continue;
      const FlowTable::Collective collective{task.collective, task.algorithm, task.bytes};
      auto found = std::find(table_.collectives.begin(), table_.collectives.end(), collective);
      const auto index = static_cast<std::int32_t>(found - table_.collectives.begin());
      if (found == table_.collectives.end()) table_.collectives.push_back(collective);
      table_.collective_of[c][t] = index;
      for (std::int32_t group : rank_class.groups[task.group_slot]) add_pattern(group, index);
    }
  }

  void add_pattern(std::int32_t group, std::int32_t index) {
    FlowTable::GroupFlows& flows = table_.groups[group];
    if (static_cast<size_t>(index) >= flows.pattern_of_collective.size()) {
      flows.pattern_of_collective.resize(index + 1, -1);
    }
    if (flows.pattern_of_collective[index] >= 0) return;
    const FlowTable::Collective& collective = table_.collectives[index];
    const std::vector<RankId>& members = plan_.groups[group].members;
    std::vector<CollectiveEdge> edges =
        collective_flows(collective.kind, collective.algorithm, members, collective.bytes, cluster_,
                         calibration_)
            .edges;
    for (CollectiveEdge& edge : edges) edge.bytes /= collective.bytes;
    std::vector<Uncoupled>& known = uncoupled_[group];
    for (size_t p = 0; p < known.size(); ++p) {
      if (!same_edges(known[p].edges, edges)) continue;
      flows.pattern_of_collective[index] = static_cast<std::int32_t>(p);
      raise_amounts(known[p], collective.bytes);
      return;
    }
    flows.pattern_of_collective[index] = static_cast<std::int32_t>(known.size());
    known.push_back(
        {table_.flows(), std::move(edges), collective.kind == CollectiveKind::all_to_all});
    for (const CollectiveEdge& edge : known.back().edges) {
      route_.clear();
      link_table_.append_route(members[edge.source], members[edge.destination], route_);
      add_flow(edge.bytes * collective.bytes);
    }
  }

  static bool same_edges(const std::vector<CollectiveEdge>& a,
                         const std::vector<CollectiveEdge>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const CollectiveEdge& x, const CollectiveEdge& y) {
                        return x.source == y.source && x.destination == y.destination &&
                               std::abs(x.bytes - y.bytes) <= 1e-13 * std::abs(x.bytes);
                      });
  }

  void raise_amounts(const Uncoupled& pattern, double bytes) {
    for (size_t e = 0; e < pattern.edges.size(); ++e) {
      for (std::int32_t link : table_.route(pattern.first_flow + static_cast<FlowIndex>(e))) {
        double& largest = table_.largest_amount[link];
        largest = std::max(largest, pattern.edges[e].bytes * bytes);
      }
    }
  }

  // A link is idle-proof when the distinct first (or last) links of all its flows have together no
  // more capacity than it. Only inner links of a route are dropped, so the links that bound them
  // stay. The argument needs weight 1: a link that some route repeats stays too.
  void prune_links() {
    const std::vector<double> before = bound_of_links(true);
    const std::vector<double> behind = bound_of_links(false);
    std::uint32_t kept = 0;
    std::uint32_t begin = 0;
    for (FlowIndex flow = 0; flow < table_.flows(); ++flow) {
      const std::uint32_t end = table_.first_link[flow + 1];
      for (std::uint32_t i = begin; i < end; ++i) {
        const std::int32_t link = table_.links[i];
        const bool inner = i > begin && i + 1 < end;
        const double enough = table_.capacity[link] * (1 + 1e-12);
        if (inner && (before[link] <= enough || behind[link] <= enough)) continue;
        table_.links[kept++] = link;
      }
      begin = end;
      table_.first_link[flow + 1] = kept;
    }
    table_.links.resize(kept);
  }

  // Makes strands of the edges, now that each route holds only the links that can bind. Flows move
  // up: those of messages and demands stay in blocks by class, in the order in which they were
  // added.
  void couple_edges() {
    const std::vector<std::uint32_t> first_link = std::move(table_.first_link);
    const std::vector<std::int32_t> links = std::move(table_.links);
    table_.first_link = {0};
    table_.links.clear();
    const auto append = [&](FlowIndex flow) {
      table_.links.insert(table_.links.end(), links.begin() + first_link[flow],
                          links.begin() + first_link[flow + 1]);
    };
    const auto close = [&] {
      table_.first_link.push_back(static_cast<std::uint32_t>(table_.links.size()));
      return table_.flows() - 1;
    };
    const auto move_block = [&](FlowIndex& first, size_t members) {
      if (first < 0) return;
      const FlowIndex from = first;
      first = table_.flows();
      for (size_t i = 0; i < members; ++i) {
        append(from + static_cast<FlowIndex>(i));
        close();
      }
    };
    for (size_t c = 0; c < plan_.classes.size(); ++c) {
      const size_t members = plan_.classes[c].members.size();
      for (FlowIndex& first : table_.classes[c].message) move_block(first, members);
      for (auto& task : table_.classes[c].demand) {
        for (FlowIndex& first : task) move_block(first, members);
      }
    }
    for (size_t g = 0; g < uncoupled_.size(); ++g) {
      for (const Uncoupled& pattern : uncoupled_[g]) {
        FlowTable::Pattern& coupled = table_.groups[g].patterns.emplace_back();
        coupled.first_flow = table_.flows();
        for (const std::vector<std::int32_t>& strand : strands_of(pattern)) {
          for (const std::int32_t e : strand) append(pattern.first_flow + e);
          close();
          const CollectiveEdge& first = pattern.edges[strand.front()];
          coupled.strands.push_back({first.source, first.bytes});
        }
      }
    }
  }

  // Edges of equal bytes, by index.
  static std::vector<std::vector<std::int32_t>> strands_of(const Uncoupled& pattern) {
    std::vector<std::vector<std::int32_t>> strands;
    for (std::int32_t e = 0; e < std::ssize(pattern.edges); ++e) {
      const auto same_bytes = [&](const std::vector<std::int32_t>& strand) {
        const double bytes = pattern.edges[strand.front()].bytes;
        return std::abs(bytes - pattern.edges[e].bytes) <= 1e-13 * bytes;
      };
      auto found = pattern.pairs_are_independent
                       ? strands.end()
                       : std::find_if(strands.begin(), strands.end(), same_bytes);
      if (found == strands.end()) found = strands.insert(found, std::vector<std::int32_t>());
      found->push_back(e);
    }
    return strands;
  }

  static bool repeats_a_link(std::span<const std::int32_t> route) {
    for (size_t i = 1; i < route.size(); ++i) {
      if (std::find(route.begin(), route.begin() + i, route[i]) != route.begin() + i) return true;
    }
    return false;
  }

  // [link]: summed capacity of the distinct first (last) links of the flows through it; infinite
  // where the link itself is the first (last) one of a flow or a route repeats a link.
  std::vector<double> bound_of_links(bool first) const {
    const size_t links = table_.capacity.size();
    std::vector<FlowIndex> order = flows_by_end_link(first);
    std::vector<double> bound(links, 0);
    std::vector<std::int32_t> counted(links, -1);
    for (FlowIndex flow : order) {
      const std::span<const std::int32_t> route = table_.route(flow);
      const std::int32_t end = first ? route.front() : route.back();
      const bool repeats = repeats_a_link(route);
      for (std::int32_t link : route) {
        if (link == end || repeats) {
          bound[link] = std::numeric_limits<double>::infinity();
        } else if (counted[link] != end) {
          counted[link] = end;
          bound[link] += table_.capacity[end];
        }
      }
    }
    return bound;
  }

  std::vector<FlowIndex> flows_by_end_link(bool first) const {
    std::vector<std::uint32_t> start(table_.capacity.size() + 1, 0);
    const auto end_link = [&](FlowIndex flow) {
      const std::span<const std::int32_t> route = table_.route(flow);
      return first ? route.front() : route.back();
    };
    for (FlowIndex flow = 0; flow < table_.flows(); ++flow) {
      if (!table_.route(flow).empty()) ++start[end_link(flow) + 1];
    }
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<FlowIndex> order(start.back());
    for (FlowIndex flow = 0; flow < table_.flows(); ++flow) {
      if (!table_.route(flow).empty()) order[start[end_link(flow)]++] = flow;
    }
    return order;
  }

  const Plan& plan_;
  const Cluster& cluster_;
  const Calibration& calibration_;
  LinkTable link_table_;
  FlowTable table_;
  std::vector<std::int32_t> dense_of_link_;  // [LinkId] -> link of the table, -1: not used
  std::vector<LinkId> route_;
  std::vector<std::vector<Uncoupled>> uncoupled_;  // [group][pattern]
};

}  // namespace

bool slowed_by_node(TaskKind kind) {
  return kind == TaskKind::compute || kind == TaskKind::copy || kind == TaskKind::encode;
}

FlowTable flow_table(const Plan& plan, const Cluster& cluster, const Calibration& calibration) {
  return FlowTableBuilder(plan, cluster, calibration).build();
}

}  // namespace windtunnel
