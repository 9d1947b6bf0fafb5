#include "sim/engine/flow_table.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/error.hpp"
#include "models/machine/fabrics/link_faults.hpp"
#include "models/machine/links/path_choice.hpp"
#include "models/network/groups/group_shapes.hpp"
#include "models/plan/class_template.hpp"

namespace windtunnel {
namespace {

class FlowTableBuilder {
 public:
  // Keeps references. `links`: links as they are between the bursts of others' traffic.
  FlowTableBuilder(const Plan& plan, const Cluster& cluster, const LinkTable& links,
                   const Calibration& calibration, const std::vector<Calibration>& pools,
                   PathChooser& chooser)
      : plan_(plan),
        cluster_(cluster),
        background_(cluster.fabric.background),
        has_bursts_(has_bursts(cluster.fabric)),
        calibration_(calibration),
        pools_(pools),
        link_table_(links),
        shapes_(cluster_),
        chooser_(chooser) {}

  // Asks the path chooser for the paths of every transfer of the Plan.
  void lay_ways() {
    table_.classes.resize(plan_.classes.size());
    table_.collective_of.resize(plan_.classes.size());
    table_.groups.resize(plan_.groups.size());
    known_.resize(plan_.groups.size());
    shape_.resize(plan_.groups.size());
    dense_of_link_.assign(link_table_.count(), -1);
    for (size_t c = 0; c < plan_.classes.size(); ++c) {
      add_messages(c);
      add_demands(c);
      add_collectives(c);
    }
  }

  // Moves the table out, without links that limit no flow and with equal links merged.
  FlowTable table() {
    drop_bounded_links(ways_, table_.capacity, least_capacity());
    join_ways();
    const std::vector<std::int32_t> stays_as = merge_alike_links(table_);
    table_.chosen.assign(table_.capacity.size(), 0);
    for (size_t link = 0; link < stays_as.size(); ++link) {
      if (chosen_[link] && stays_as[link] >= 0) table_.chosen[stays_as[link]] = 1;
    }
    return std::move(table_);
  }

 private:
  static constexpr int kWireParts = 256;

  // Makes a flow of the paths added since the last flow; `amount` is the largest that it will
  // carry.
  FlowIndex close_flow(double amount) {
    first_way_.push_back(ways_.count());
    amount_.push_back(amount);
    return static_cast<FlowIndex>(amount_.size() - 1);
  }

  // Makes a path of the links added since the last path.
  void close_way(double share = 1) {
    CHECK(ways_.links.size() < UINT32_MAX, "{} links in routes", ways_.links.size());
    ways_.first_link.push_back(static_cast<std::uint32_t>(ways_.links.size()));
    ways_.share.push_back(share);
  }

  // Returns the capacities that links have during bursts of others' traffic.
  std::vector<double> least_capacity() const {
    std::vector<double> least = table_.capacity;
    for (size_t l = 0; l < table_.bursts.size(); ++l) {
      least[l] *= 1 - table_.bursts[l].most;
    }
    return least;
  }

  // `wire_share`: the share of the bytes that crosses links other than the NICs.
  void add_transfer(RankId source, RankId destination, double bytes, double wire_share = 1) {
    // Rounds up to whole 1 / kWireParts, so that shares remain ratios of small integers.
    wire_share = std::ceil(wire_share * kWireParts - 1e-9) / kWireParts;
    bytes *= wire_share;
    const bool choice =
        !joins_bundles(cluster_.fabric.routing) && link_table_.paths(source, destination) > 1;
    for (const PathShare& way : chooser_.choose(source, destination, bytes)) {
      route_.clear();
      link_table_.append_route(source, destination, route_, way.path);
      for (const LinkId link : route_) {
        ways_.links.push_back(dense_link(link));
        if (choice && link_table_.fabric_link(link) >= 0) chosen_[ways_.links.back()] = 1;
      }
      close_way(way.share * wire_share);
    }
    if (wire_share == 1) return;
    ways_.links.push_back(dense_link(route_.front()));
    ways_.links.push_back(dense_link(route_.back()));
    close_way(1 - wire_share);
  }

  void add_resource(RankId rank, Resource resource) {
    route_.clear();
    link_table_.append_resource(rank, resource, route_);
    for (const LinkId link : route_) ways_.links.push_back(dense_link(link));
  }

  std::int32_t dense_link(LinkId link) {
    std::int32_t& dense = dense_of_link_[link];
    if (dense >= 0) return dense;
    const double capacity = link_table_.capacity(link);
    if (!(capacity > 0)) {
      throw Error(fmt::format("the plan sends data over '{}', which has no bandwidth",
                              link_table_.name(link)));
    }
    if (!has_bursts_) return dense = add_link(capacity);
    const std::string name = link_table_.name(link);
    const int load = burst_of(cluster_.fabric, name);
    if (load < 0) return dense = add_link(capacity);
    return dense = add_link(capacity, {load, number_of(name), background_[load].burst_load()});
  }

  // FNV-1a (Fowler, Noll, Vo): a link's number depends only on its name, not on other links.
  static std::uint32_t number_of(std::string_view name) {
    std::uint32_t number = 2166136261u;
    for (const char letter : name) {
      number = (number ^ static_cast<unsigned char>(letter)) * 16777619u;
    }
    return number;
  }

  std::int32_t add_link(double capacity, LinkBurst burst = {}) {
    table_.capacity.push_back(capacity);
    if (has_bursts_) table_.bursts.push_back(burst);
    chosen_.push_back(0);
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
      message[slot] = next_flow();
      for (size_t i = 0; i < rank_class.members.size(); ++i) {
        add_transfer(rank_class.members[i], rank_class.peers[slot][i], largest[slot]);
        close_flow(largest[slot]);
      }
    }
  }

  void add_demands(size_t c) {
    const RankClass& rank_class = plan_.classes[c];
    table_.classes[c].demand.resize(rank_class.tasks.size());
    for (size_t t = 0; t < rank_class.tasks.size(); ++t) {
      const Task& task = rank_class.tasks[t];
      for (const Flow& flow : task.flows) {
        table_.classes[c].demand[t].push_back(next_flow());
        for (RankId rank : rank_class.members) add_demand(rank, task, flow);
      }
    }
  }

  void add_demand(RankId rank, const Task& task, const Flow& flow) {
    for (const Demand& demand : flow.demands) {
      for (int k = 0; k < demand.weight; ++k) add_resource(rank, demand.resource);
    }
    // SimGrid ignores a rate between hosts, so a link that only this flow uses caps the flow.
    if (!std::isinf(flow.max_rate)) ways_.links.push_back(add_link(flow.max_rate));
    close_way();
    close_flow(flow.amount * (slowed_by_node(task.kind) ? cluster_.slowdown_of(rank) : 1));
  }

  void add_collectives(size_t c) {
    const RankClass& rank_class = plan_.classes[c];
    table_.collective_of[c].assign(rank_class.tasks.size(), -1);
    for (size_t t = 0; t < rank_class.tasks.size(); ++t) {
      const Task& task = rank_class.tasks[t];
      if (task.kind != TaskKind::collective || !task.as_flows || task.bytes <= 0) continue;
      const FlowTable::Collective collective{task.collective,
                                             {task.algorithm, task.protocol},
                                             task.bytes,
                                             task.exchange,
                                             task.returns};
      auto found = std::find(table_.collectives.begin(), table_.collectives.end(), collective);
      const auto index = static_cast<std::int32_t>(found - table_.collectives.begin());
      if (found == table_.collectives.end()) table_.collectives.push_back(collective);
      table_.collective_of[c][t] = index;
      for (std::int32_t group : rank_class.groups[task.group_slot]) add_pattern(group, index);
    }
  }

  void add_pattern(std::int32_t group, std::int32_t index) {
    FlowTable::GroupFlows& own = table_.groups[group];
    if (static_cast<size_t>(index) >= own.pattern_of_collective.size()) {
      own.pattern_of_collective.resize(index + 1, -1);
    }
    if (own.pattern_of_collective[index] >= 0) return;
    const FlowTable::Collective& collective = table_.collectives[index];
    const std::vector<RankId>& members = plan_.groups[group].members;
    std::optional<GroupShape>& shape = shape_[group];
    if (!shape) shape = shapes_.of(members);
    CollectiveFlows flows = flows_of(collective, *shape, members);
    for (CollectiveEdge& edge : flows.edges) edge.bytes /= collective.bytes;
    for (CollectiveDemand& demand : flows.demands) demand.bytes /= collective.bytes;
    std::vector<CollectiveFlows>& known = known_[group];
    const auto same = std::ranges::find_if(
        known, [&](const CollectiveFlows& other) { return same_flows(flows, other); });
    own.pattern_of_collective[index] = static_cast<std::int32_t>(same - known.begin());
    if (same == known.end()) {
      own.patterns.push_back(make_pattern(flows, members, collective.bytes));
      known.push_back(std::move(flows));
      return;
    }
    const FlowTable::Pattern& pattern = own.patterns[same - known.begin()];
    for (size_t s = 0; s < pattern.pipelined.size(); ++s) {
      double& amount = amount_[pattern.first_flow + s];
      amount = std::max(amount, pattern.pipelined[s].bytes * collective.bytes);
    }
  }

  CollectiveFlows flows_of(const FlowTable::Collective& collective, const GroupShape& shape,
                           const std::vector<RankId>& members) const {
    CHECK(shape.pool < std::ssize(pools_), "no calibration of pool {}", shape.pool);
    const Calibration& calibration = shape.pool < 0 ? calibration_ : pools_[shape.pool];
    if (collective.exchange < 0) {
      return collective_flows(collective.kind, collective.choice, shape, members, collective.bytes,
                              cluster_, calibration);
    }
    const std::vector<double> bytes =
        exchange_bytes(plan_.exchanges[collective.exchange], collective.returns, collective.bytes,
                       members, cluster_);
    CollectiveFlows flows;
    flows.edges =
        all_to_all_v_edges(bytes, collective.choice, shape, members, cluster_, calibration);
    flows.independent = true;
    return flows;
  }

  static bool same_bytes(double a, double b) { return std::abs(a - b) <= 1e-13 * std::abs(a); }

  static bool same_flows(const CollectiveFlows& a, const CollectiveFlows& b) {
    const auto same_edge = [](const CollectiveEdge& x, const CollectiveEdge& y) {
      return x.source == y.source && x.destination == y.destination &&
             same_bytes(x.bytes, y.bytes) && same_bytes(x.wire_share, y.wire_share);
    };
    const auto same_demand = [](const CollectiveDemand& x, const CollectiveDemand& y) {
      return x.member == y.member && x.resource == y.resource && same_bytes(x.bytes, y.bytes);
    };
    return a.independent == b.independent && std::ranges::equal(a.edges, b.edges, same_edge) &&
           std::ranges::equal(a.demands, b.demands, same_demand);
  }

  FlowTable::Pattern make_pattern(const CollectiveFlows& flows, const std::vector<RankId>& members,
                                  double bytes) {
    FlowTable::Pattern pattern;
    pattern.first_flow = next_flow();
    const auto edges = static_cast<std::int32_t>(flows.edges.size());
    for (const std::vector<std::int32_t>& flow : pipelined_flows_of(flows)) {
      for (const std::int32_t e : flow) {
        if (e < edges) {
          const CollectiveEdge& edge = flows.edges[e];
          add_transfer(members[edge.source], members[edge.destination], edge.bytes * bytes,
                       edge.wire_share);
        } else {
          const CollectiveDemand& demand = flows.demands[e - edges];
          add_resource(members[demand.member], demand.resource);
          close_way();
        }
      }
      const std::int32_t first = flow.front();
      const bool edge = first < edges;
      pattern.pipelined.push_back(
          {edge ? flows.edges[first].source : flows.demands[first - edges].member,
           edge ? flows.edges[first].bytes : flows.demands[first - edges].bytes});
      close_flow(pattern.pipelined.back().bytes * bytes);
    }
    return pattern;
  }

  // Returns groups of equal bytes: the indices of edges, then those of demands.
  static std::vector<std::vector<std::int32_t>> pipelined_flows_of(const CollectiveFlows& flows) {
    std::vector<std::vector<std::int32_t>> pipelined;
    std::vector<double> bytes;  // [group of edges]
    const auto add = [&](std::int32_t index, double of_index) {
      size_t s = flows.independent ? pipelined.size() : 0;
      while (s < pipelined.size() && !same_bytes(bytes[s], of_index)) ++s;
      if (s == pipelined.size()) {
        pipelined.emplace_back();
        bytes.push_back(of_index);
      }
      pipelined[s].push_back(index);
    };
    const auto edges = static_cast<std::int32_t>(flows.edges.size());
    for (std::int32_t e = 0; e < edges; ++e) add(e, flows.edges[e].bytes);
    for (std::int32_t d = 0; d < std::ssize(flows.demands); ++d) {
      add(edges + d, flows.demands[d].bytes);
    }
    return pipelined;
  }

  FlowIndex next_flow() const { return static_cast<FlowIndex>(amount_.size()); }

  // Turns the remaining paths into routes of flows. On a link that carries all of a flow, the flow
  // has weight `unit`, so that shares are also integers.
  void join_ways() {
    const std::int32_t unit = whole_unit(ways_);
    for (double& capacity : table_.capacity) capacity *= unit;
    table_.largest_amount.assign(table_.capacity.size(), 0);
    std::vector<std::int32_t> weight(table_.capacity.size(), 0);
    std::vector<std::int32_t> touched;
    for (FlowIndex flow = 0; flow < next_flow(); ++flow) {
      for (std::int32_t way = first_way_[flow]; way < first_way_[flow + 1]; ++way) {
        for (const std::int32_t link : ways_.links_of(way)) {
          if (weight[link] == 0) touched.push_back(link);
          weight[link] += static_cast<std::int32_t>(std::lround(ways_.share[way] * unit));
        }
      }
      for (const std::int32_t link : touched) {
        table_.links.push_back({link, std::exchange(weight[link], 0)});
        table_.largest_amount[link] = std::max(table_.largest_amount[link], amount_[flow]);
      }
      touched.clear();
      table_.first_link.push_back(static_cast<std::uint32_t>(table_.links.size()));
    }
  }

  const Plan& plan_;
  const Cluster& cluster_;
  const std::vector<BackgroundLoad>& background_;
  const bool has_bursts_;
  const Calibration& calibration_;
  const std::vector<Calibration>& pools_;
  const LinkTable& link_table_;
  GroupShapes shapes_;
  PathChooser& chooser_;
  FlowTable table_;
  std::vector<std::int32_t> dense_of_link_;  // [LinkId] -> link of the table, -1: not used
  std::vector<LinkId> route_;
  std::vector<char> chosen_;  // [link], before alike links are merged
  Ways ways_;
  std::vector<std::int32_t> first_way_{0};           // [flow + 1]
  std::vector<double> amount_;                       // [flow]
  std::vector<std::vector<CollectiveFlows>> known_;  // [group][pattern], per byte of the buffer
  std::vector<std::optional<GroupShape>> shape_;     // [group], computed when it is needed
};

}  // namespace

FlowTable flow_table(const Plan& plan, const Cluster& cluster, const Calibration& calibration,
                     const std::vector<Calibration>& pools) {
  const bool pcie = copies_over_pcie(plan);
  const LinkTable links(cluster, pcie);  // average capacities: paths are chosen for these
  Cluster quiet = cluster;
  quiet.fabric = between_bursts(quiet.fabric);
  const LinkTable between = has_bursts(cluster.fabric) ? LinkTable(quiet, pcie) : links;
  PathChooser chooser(links);
  if (chooser.asks_twice()) {
    FlowTableBuilder(plan, cluster, between, calibration, pools, chooser).lay_ways();
    chooser.settle();
  }
  FlowTableBuilder builder(plan, cluster, between, calibration, pools, chooser);
  builder.lay_ways();
  return builder.table();
}

}  // namespace windtunnel
