// The fabric between the nodes, from checked values: its topology, routing, cables from a file, and
// faults of links.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "models/base/quantity_range.hpp"
#include "models/machine/fabrics/graph.hpp"
#include "models/machine/fabrics/link_faults.hpp"
#include "models/machine/links/links.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kPath = "cluster.fabric";

std::string fabric_key(std::string_view name) {
  return join_path(kPath, name);
}

MeasuredBus resolve_measured_bus(const Values& values, const EvidenceList& evidence) {
  MeasuredBus measured;
  const auto read = [&](const std::string& name, double& bus_Bps) {
    const std::string key = "cluster.fabric.measured." + name;
    if (!values.has(key)) return;
    bus_Bps = values.number(key);
    measured.origin = weakest(measured.origin, evidence.of(key).origin);
  };
  read("all_reduce", measured.all_reduce_Bps);
  read("all_gather", measured.all_gather_Bps);
  read("reduce_scatter", measured.reduce_scatter_Bps);
  return measured;
}

// A key of another topology or routing would silently have no effect, so it is refused.
void check_keys_of_form(const Values& values, const FabricSpec& fabric) {
  for (const std::string& key : child_keys(kPath)) {
    if (!values.stated(fabric_key(key)) || belongs_to(key, fabric.topology)) continue;
    std::vector<std::string_view> homes;
    for (const Choice<Topology>& choice : kChoices<Topology>) {
      if (belongs_to(key, choice.value)) homes.push_back(choice.name);
    }
    values.fail(fabric_key(key),
                fmt::format("is a key of topology {}, but this fabric has topology {}",
                            fmt::join(homes, " or "), name_of(fabric.topology)));
  }
  if (fabric.routing == Routing::adaptive && fabric.topology != Topology::dragonfly) {
    values.fail(fabric_key("routing"),
                fmt::format("adaptive takes detours, which topology {} does not have; take spray, "
                            "which is adaptive among equal paths, or topology: dragonfly",
                            name_of(fabric.topology)));
  }
  const auto set_routing = [&](const char* routing) {
    return fmt::format("has no effect with routing {}; set routing: {}", name_of(fabric.routing),
                       routing);
  };
  const bool split = fabric.routing == Routing::split_single_path;
  refuse_unused(values, std::string(kPath),
                {{joins_bundles(fabric.routing),
                  {"uplinks"},
                  set_routing("ecmp, split-single-path or planned")},
                 {!split, {"parts"}, set_routing("split-single-path")},
                 {fabric.routing != Routing::ecmp, {"routing_seed"}, set_routing("ecmp")}});
}

std::vector<int> resolve_dimensions(const Values& values, std::vector<int> otherwise) {
  const std::string list = fabric_key("dimensions");
  if (!values.stated(list)) return otherwise;
  const std::vector<double> dimensions = values.numbers(list);
  return {dimensions.begin(), dimensions.end()};
}

std::vector<double> resolve_dimension_links(const Values& values) {
  const std::string list = fabric_key("dimension_links");
  if (values.stated(list) && values.stated(fabric_key("link"))) {
    values.fail(list,
                "state either one bandwidth of all cables ('link') or one per dimension, not both");
  }
  return values.numbers(list);
}

// Slices add a dimension to a torus. A torus without slices has no data-centre network.
void join_slices(const Values& values, const NodeSpec& node, FabricSpec& fabric) {
  if (fabric.topology != Topology::torus) return;
  const std::string key = fabric_key("slices");
  refuse_unused(values, std::string(kPath),
                {{!values.has(key),
                  {"wan", "wan_latency"},
                  "on a torus this key is for the network between slices; state their number as "
                  "'slices'"}});
  const int slices = values.has(key) ? values.integer(key) : 1;
  if (slices == 1) {
    fabric.wan_Bps = {};
    return;
  }
  for (const auto& [name, stated] : {std::pair{"wan", fabric.wan_Bps.value},
                                     std::pair{"wan_latency", fabric.wan_latency_s.value}}) {
    if (stated > 0) continue;
    values.fail(key, fmt::format("needs '{}' of the network between slices; state {}", name,
                                 fabric_key(name)));
  }
  if (fabric.dimension_Bps.empty()) {
    const double link = fabric.link_Bps.value > 0 ? fabric.link_Bps.value : node.nic_Bps.value;
    fabric.dimension_Bps.assign(fabric.dimensions.size(), link);
  }
  fabric.dimensions.push_back(slices);
  // With three or more slices each node has two links in this dimension, which share its bandwidth.
  fabric.dimension_Bps.push_back(fabric.wan_Bps.value / (slices > 2 ? 2 : 1));
}

std::vector<SiteSpec> resolve_sites(const Values& values, Transport transport) {
  const std::string list = fabric_key("sites");
  std::vector<SiteSpec> sites;
  for (int i = 0; i < values.length(list); ++i) {
    const std::string path = fmt::format("{}.{}", list, i);
    SiteSpec site;
    site.transport = transport;
    values.fill(path, site);
    for (int other = 0; other < i; ++other) {
      if (sites[other].name != site.name) continue;
      values.fail(path + ".name", fmt::format("{}.{} is called '{}' too", list, other, site.name));
    }
    sites.push_back(site);
  }
  return sites;
}

// The end of a cable must be a node or NIC of the cluster, or a switch.
void check_end(const std::string& name, const Cluster& cluster, const Location& where,
               std::string_view key) {
  try {
    cable_end(name, cluster);
  } catch (const Error& error) {
    throw Error(where, fmt::format("{}: {}", key, error.what()));
  }
}

std::vector<EdgeSpec> read_edges(const CsvTable& table, const Cluster& cluster) {
  const size_t a = table.column("a");
  const size_t b = table.column("b");
  const size_t bandwidth = table.column("bandwidth");
  std::vector<EdgeSpec> edges;
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto cell = [&](size_t column) {
      return Location{table.file(), table.line(row), static_cast<int>(column) + 1};
    };
    EdgeSpec edge{table.text(row, a), table.text(row, b), 0};
    try {
      edge.bandwidth_Bps = parse_in_range(table.text(row, bandwidth), Dimension::bytes_per_s);
    } catch (const Error& error) {
      throw Error(cell(bandwidth), fmt::format("bandwidth: {}", error.what()));
    }
    if (edge.bandwidth_Bps <= 0) {
      throw Error(cell(bandwidth),
                  fmt::format("bandwidth: must be above 0, not {}", table.text(row, bandwidth)));
    }
    check_end(edge.a, cluster, cell(a), "a");
    check_end(edge.b, cluster, cell(b), "b");
    edges.push_back(edge);
  }
  return edges;
}

std::vector<EdgeSpec> resolve_edges(const Values& values, NamedFiles& files,
                                    const Cluster& cluster) {
  const std::string list = fabric_key("edges");
  const std::string file = fabric_key("edges_file");
  if (values.has(file)) {
    if (values.stated(list))
      values.fail(file, "list the cables either in 'edges' or in a file, not both");
    const std::string& name = values.text(file);
    return values.about(file, [&] {
      return read_edges(CsvTable::parse(files.text(name), files.path(name)), cluster);
    });
  }
  std::vector<EdgeSpec> edges;
  for (const std::string& path : values.items(list)) {
    EdgeSpec edge;
    values.fill(path, edge);
    check_end(edge.a, cluster, values.where(path + ".a"), path + ".a");
    check_end(edge.b, cluster, values.where(path + ".b"), path + ".b");
    edges.push_back(edge);
  }
  return edges;
}

std::vector<BackgroundLoad> resolve_background(const Values& values) {
  const std::string list = fabric_key("background");
  std::vector<BackgroundLoad> background;
  for (const std::string& path : values.items(list)) {
    const BackgroundLoad& load = background.emplace_back();
    values.fill(path, background.back());
    const bool lasts = load.burst_s > 0;
    if (lasts != (load.duty < 1)) {
      throw Error(
          values.where(path + (lasts ? ".burst" : ".duty")),
          fmt::format(
              "{}: bursts need a 'duty' below 1 and a mean length 'burst'; the {} is missing", path,
              lasts ? "duty" : "length"));
    }
    constexpr double kMostInBurst = 0.95;  // a larger share would leave links too slow to simulate
    if (load.in_bursts() && load.burst_load() > kMostInBurst) {
      throw Error(values.where(path + ".load"),
                  fmt::format("{}.load: a mean load of {} within {} of the time means {:.3g} of "
                              "the bandwidth in a burst; at most {} is possible",
                              path, load.load, load.duty, load.burst_load(), kMostInBurst));
    }
  }
  return background;
}

// In a rail-only fabric nothing joins the rails, so every node needs a NIC on each.
void check_rails(const Values& values, const Cluster& cluster) {
  if (cluster.fabric.topology != Topology::rail_only ||
      cluster.node.nics == cluster.nics_per_node()) {
    return;
  }
  throw Error(values.fault_at("cluster.pools"),
              fmt::format("the nodes have {} and {} NICs, but nothing joins the rails of a "
                          "rail-only fabric, so all nodes need the same number",
                          cluster.node.nics, cluster.nics_per_node()));
}

// The fabric's own checks find the fault; this adds the place.
void check_form(const Values& values, const Cluster& cluster) {
  std::string key(kPath);
  for (const char* name : {"edges_file", "edges", "sites", "dimension_links", "dimensions"}) {
    if (values.stated(fabric_key(name))) key = fabric_key(name);
  }
  values.about(key, [&] { const LinkTable links(cluster); });
}

void check_background(const Values& values, const Cluster& cluster) {
  Cluster single = cluster;
  for (size_t i = 0; i < cluster.fabric.background.size(); ++i) {
    single.fabric.background = {cluster.fabric.background[i]};
    values.about(fmt::format("{}.{}.links", fabric_key("background"), i),
                 [&] { const LinkTable links(single); });
  }
  if (!has_bursts(cluster.fabric)) return;
  values.about(fabric_key("background"), [&] {
    const LinkTable links(cluster);
    for (LinkId link = 0; link < links.count(); ++link) burst_of(cluster.fabric, links.name(link));
  });
}

// Checks that every named link exists and that the remaining links connect the nodes.
void check_faults(const Values& values, const Cluster& cluster) {
  const std::string list = fabric_key("faults");
  Cluster single = cluster;
  for (size_t i = 0; i < cluster.fabric.faults.size(); ++i) {
    const std::string path = fmt::format("{}.{}.link", list, i);
    single.fabric.faults = {{cluster.fabric.faults[i].link, 0.5}};
    values.about(path, [&] { const LinkTable links(single); });
  }
  values.about(list, [&] {
    const LinkTable links(cluster);
    const int nics = cluster.nics_per_node();
    for (int nic = 0; nic < nics * cluster.fabric_nodes(); ++nic) nic_factor(cluster, nic);
    // Requests paths between the first node and all others, both ways: this finds pods or leaves
    // that a missing bundle cuts off.
    for (int gpu = cluster.node.gpus; gpu < cluster.gpus(); ++gpu) {
      links.paths(gpu % cluster.node.gpus, gpu);
      links.paths(gpu, gpu % cluster.node.gpus);
    }
  });
}

}  // namespace

void resolve_fabric(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                    Cluster& cluster) {
  FabricSpec& fabric = cluster.fabric;
  fabric = find_fabric(values.text(fabric_key("base"))).fabric;
  override_members(kPath, values, evidence, fabric);
  check_keys_of_form(values, fabric);
  fabric.measured = resolve_measured_bus(values, evidence);
  fabric.dimensions = resolve_dimensions(values, fabric.dimensions);
  fabric.dimension_Bps = resolve_dimension_links(values);
  join_slices(values, cluster.node, fabric);
  fabric.sites = resolve_sites(values, fabric.transport);
  fabric.edges = resolve_edges(values, files, cluster);
  values.fill(fabric_key("variation"), fabric.variation);
  check_rails(values, cluster);
  check_form(values, cluster);
  fabric.faults = values.filled_items<LinkFault>(fabric_key("faults"));
  if (!fabric.faults.empty()) check_faults(values, cluster);
  fabric.background = resolve_background(values);
  check_background(values, cluster);
}

}  // namespace windtunnel
