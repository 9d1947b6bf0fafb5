// These are rows of the field table below "cluster.fabric".
#include <initializer_list>

#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

constexpr double kMostNodes = 1e6;

// Limits a key to fabrics of these topologies.
constexpr auto of(std::initializer_list<Topology> forms) {
  unsigned bits = 0;
  for (const Topology form : forms) bits |= 1U << static_cast<unsigned>(form);
  return [=](Field& row) { row.topologies = bits; };
}
constexpr auto of_trees =
    of({Topology::rail_fat_tree, Topology::fat_tree, Topology::rail_only, Topology::clos});

Rows form_rows() {
  return {
      map_row("cluster.fabric", shorthand("base"),
              example("{topology: rail-fat-tree, nodes_per_pod: 384}"),
              "the network between nodes: a name of the library, or its topology and sizes"),
      name_row("cluster.fabric.base", by_default("full-bisection"),
               names(names_listed<library_fabrics>), "the fabric of the library to start from"),
      whole_row("cluster.fabric.nodes", sets<&Cluster::machine_nodes>, range(1, kMostNodes),
                optional, example("512"),
                "nodes that the fabric joins, if there are more than the job uses (the first ones, "
                "or those of layout.placement); default: the nodes of the job"),
      name_row(
          "cluster.fabric.topology", sets<&FabricSpec::topology>, in_every_entry,
          example("rail-fat-tree"),
          "rail-fat-tree: NIC i of all nodes of a pod is on rail i, and rails are joined above the "
          "pods; rail-only: rails are not joined; fat-tree: all NICs of a pod are on one level of "
          "leaves; clos: three levels of switches; torus: a grid with wrap-around; dragonfly: "
          "groups of routers; sites: sites on a wide-area network; graph: any list of cables"),
      name_row("cluster.fabric.transport", sets<&FabricSpec::transport>, in_every_entry,
               example("infiniband"), "wire and software that carry collectives between nodes"),
      name_row("cluster.fabric.routing", sets<&FabricSpec::routing>, in_entry, example("ecmp"),
               "how one of several paths is chosen: packets use all equal paths (spray), a hash of "
               "the connection chooses (ecmp), parts of a connection take paths in turn "
               "(split-single-path), or the least loaded path is taken (planned); adaptive: on a "
               "dragonfly, packets also take detours, as far as they relieve the busiest link"),
      whole_row("cluster.fabric.uplinks", sets<&FabricSpec::uplinks>, in_entry, of_trees,
                range(1, 1e5), example("16"),
                "parallel links above a leaf or pod, if the routing is not spray; default: the "
                "NICs below, divided by the oversubscription"),
      whole_row("cluster.fabric.parts", sets<&FabricSpec::parts>, in_entry, range(1, 1000),
                example("2"),
                "parts of a connection under split-single-path; default: as the fabric has"),
      whole_row("cluster.fabric.routing_seed", sets<&FabricSpec::routing_seed>, range(0, 1e8),
                example("1"), "seed of ecmp's hash; default: as the fabric has"),
      duration_row("cluster.fabric.hop_latency", sets<&FabricSpec::hop_latency_s>, in_every_entry,
                   example("300 ns"), "latency of one switch with its cables"),
  };
}

Rows tree_rows() {
  return {
      whole_row("cluster.fabric.nodes_per_pod", sets<&FabricSpec::nodes_per_pod>, in_entry,
                of_trees, range(0, kMostNodes), example("384"),
                "nodes of a pod; 0: one pod holds all"),
      fact_row("cluster.fabric.pod_oversubscription", sets<&FabricSpec::pod_oversubscription>,
               in_entry, of_trees, range(1, 1e6), example("7"),
               "total NIC bandwidth of a pod, divided by the bandwidth of its uplinks"),
      whole_row("cluster.fabric.nodes_per_leaf", sets<&FabricSpec::nodes_per_leaf>, in_entry,
                of({Topology::clos}), range(1, kMostNodes), example("16"), "clos: nodes of a leaf"),
      fact_row("cluster.fabric.leaf_oversubscription", sets<&FabricSpec::leaf_oversubscription>,
               in_entry, of({Topology::clos}), range(1, 1e6), example("2"),
               "clos: total NIC bandwidth of a leaf, divided by the bandwidth of its uplinks"),
  };
}

Rows direct_rows() {
  return {
      list_row("cluster.fabric.dimensions", of({Topology::torus}), example("[4, 4, 4]"),
               "torus: nodes along each dimension; their product is the number of nodes"),
      whole_row("cluster.fabric.dimensions.*", range(1, kMostNodes), example("4"),
                "nodes in one dimension"),
      bandwidth_row("cluster.fabric.link", sets<&FabricSpec::link_Bps>, in_entry,
                    of({Topology::torus}), example("50 GB/s"),
                    "torus: bandwidth of a cable, per direction; default: that of a NIC"),
      list_row("cluster.fabric.dimension_links", of({Topology::torus}),
               example("[50 GB/s, 50 GB/s, 3 GB/s]"),
               "torus: bandwidth of a cable of each dimension, per direction, instead of `link`"),
      bandwidth_row("cluster.fabric.dimension_links.*", example("50 GB/s"),
                    "bandwidth of a cable of one dimension"),
      whole_row(
          "cluster.fabric.slices", of({Topology::torus}), range(1, 1000), example("2"),
          "torus: number of equal tori (slices) that a data-centre network joins; the cables "
          "between slices share the bandwidth `wan`, and an exchange of the gradients of a layer "
          "between slices takes rounds of `wan_latency` that nothing hides; default: 1"),
      whole_row("cluster.fabric.nodes_per_router", sets<&FabricSpec::nodes_per_router>, in_entry,
                of({Topology::dragonfly}), range(1, 1000), example("4"),
                "dragonfly: nodes of a router"),
      whole_row("cluster.fabric.routers_per_group", sets<&FabricSpec::routers_per_group>, in_entry,
                of({Topology::dragonfly}), range(1, 1e4), example("32"),
                "dragonfly: routers of a group"),
      bandwidth_row("cluster.fabric.local", sets<&FabricSpec::local_Bps>, in_entry,
                    of({Topology::dragonfly}), example("25 GB/s"),
                    "dragonfly: bandwidth between two routers of a group, per direction"),
      bandwidth_row("cluster.fabric.global", sets<&FabricSpec::global_Bps>, in_entry,
                    of({Topology::dragonfly}), example("100 GB/s"),
                    "dragonfly: bandwidth of the whole bundle between two groups, per direction"),
  };
}

Rows site_rows() {
  return {
      list_row("cluster.fabric.sites", of({Topology::sites}),
               example("[{name: north, nodes: 16}, {name: south, nodes: 16}]"),
               "sites, each with its own fat tree, with the nodes in order"),
      map_row("cluster.fabric.sites.*", example("{name: north, nodes: 16}"), "one site"),
      text_row("cluster.fabric.sites.*.name", sets<&SiteSpec::name>, required, example("north"),
               "name of the site, which is part of the names of its links"),
      whole_row("cluster.fabric.sites.*.nodes", sets<&SiteSpec::nodes>, range(1, kMostNodes),
                required, example("16"), "nodes of the site"),
      bandwidth_row("cluster.fabric.sites.*.nic", sets<&SiteSpec::nic_Bps>, optional,
                    example("200 Gb/s"),
                    "bandwidth per NIC and direction; default: that of the node"),
      name_row("cluster.fabric.sites.*.transport", sets<&SiteSpec::transport>, optional,
               example("roce"), "transport inside the site; default: that of the fabric"),
      bandwidth_row(
          "cluster.fabric.wan", sets<&FabricSpec::wan_Bps>, in_entry,
          of({Topology::sites, Topology::torus}), example("400 Gb/s"),
          "bandwidth, per direction, between a site and the wide-area network, or between "
          "a node of a torus and other slices"),
      duration_row("cluster.fabric.wan_latency", sets<&FabricSpec::wan_latency_s>, in_entry,
                   of({Topology::sites, Topology::torus}), example("10 ms"),
                   "latency between two sites, one way; torus: latency of a round between slices"),
  };
}

Rows graph_rows() {
  return {
      list_row("cluster.fabric.edges", of({Topology::graph}),
               example("[{a: node 0, b: leaf, bandwidth: 400 Gb/s}]"), "cables of a graph"),
      map_row("cluster.fabric.edges.*", example("{a: node 0, b: leaf, bandwidth: 400 Gb/s}"),
              "one cable"),
      text_row("cluster.fabric.edges.*.a", sets<&EdgeSpec::a>, required, example("node 0"),
               "one end of the cable: 'node 3' with all its NICs, 'node 3 nic 1', or any other "
               "name, which is a switch"),
      text_row("cluster.fabric.edges.*.b", sets<&EdgeSpec::b>, required, example("leaf"),
               "the other end of the cable"),
      bandwidth_row("cluster.fabric.edges.*.bandwidth", sets<&EdgeSpec::bandwidth_Bps>, required,
                    example("400 Gb/s"), "bandwidth of the cable, per direction"),
      text_row("cluster.fabric.edges_file", of({Topology::graph}), example("fabric.csv"),
               "the cables as a CSV file in the same folder with the columns a, b, bandwidth"),
  };
}

// Rows about links that are measured, broken or unequal.
Rows state_rows() {
  return {
      map_row("cluster.fabric.measured", example("{all_reduce: 160 GB/s, all_gather: 170 GB/s}"),
              "measured bus bandwidth (nccl-tests' busbw) of one group over all GPUs; it is an "
              "upper bound for collectives between nodes"),
      bandwidth_row("cluster.fabric.measured.all_reduce", example("160 GB/s"),
                    "measured bus bandwidth of all-reduce"),
      bandwidth_row("cluster.fabric.measured.all_gather", example("170 GB/s"),
                    "measured bus bandwidth of all-gather"),
      bandwidth_row("cluster.fabric.measured.reduce_scatter", example("170 GB/s"),
                    "measured bus bandwidth of reduce-scatter"),
      list_row("cluster.fabric.faults", by_default("[]"),
               example("[{link: pod-up 3 rail 2, factor: 0.5}]"),
               "links that failed or are degraded"),
      map_row("cluster.fabric.faults.*", example("{link: pod-up 3 rail 2, factor: 0.5}"),
              "one link"),
      text_row("cluster.fabric.faults.*.link", sets<&LinkFault::link>, required,
               example("pod-up 3 rail 2"),
               "name of the link; for a wrong name the error shows the closest one"),
      fact_row(
          "cluster.fabric.faults.*.factor", sets<&LinkFault::factor>, range(0, 1), example("0.5"),
          "share of the bandwidth that is left; 0: failed, and avoided if there is another path"),
      list_row("cluster.fabric.background", by_default("[]"),
               example("[{links: global, load: 0.3}]"), "traffic of others on links"),
      map_row("cluster.fabric.background.*", example("{links: global, load: 0.3}"),
              "traffic on one link, or on many"),
      text_row("cluster.fabric.background.*.links", sets<&BackgroundLoad::links>, required,
               example("global"),
               "the name of a link, or the beginning of the names of several: nic-out, pod-up, "
               "global 3; for a wrong name the error shows the closest one"),
      fact_row("cluster.fabric.background.*.load", sets<&BackgroundLoad::load>, range(0, 0.999),
               required, example("0.3"), "share of the bandwidth that it takes on average"),
      fact_row("cluster.fabric.background.*.duty", sets<&BackgroundLoad::duty>, range(0.001, 1),
               example("0.4"),
               "share of the time with bursts, each of which takes load / duty of the bandwidth; "
               "1: the load is constant"),
      fact_row("cluster.fabric.background.*.burst", sets<&BackgroundLoad::burst_s>,
               Dimension::seconds, range(1e-5, 1e6), optional, example("50 ms"),
               "mean length of a burst; lengths are random and independent for each link"),
      whole_row("cluster.fabric.background_seed", sets<&FabricSpec::background_seed>, range(0, 1e8),
                example("2"), "seed of the bursts; vary it to see their effect"),
      map_row("cluster.fabric.variation",
              example("{sigma: 0.02, slow_share: 0.01, slow_factor: 0.5}"),
              "differences between NICs (with cable and port): each runs at a fixed random share "
              "of its bandwidth, from a log-normal law below 1"),
      fact_row("cluster.fabric.variation.sigma", sets<&NicVariation::sigma>, range(0, 2), optional,
               example("0.02"), "standard deviation of the logarithm of the factor"),
      fact_row("cluster.fabric.variation.slow_share", sets<&NicVariation::slow_share>, range(0, 1),
               optional, example("0.01"),
               "share of the NICs whose factor is drawn around slow_factor instead"),
      fact_row("cluster.fabric.variation.slow_factor", sets<&NicVariation::slow_factor>,
               above(0, 1), optional, example("0.5"),
               "share of the bandwidth that slow NICs reach"),
      fact_row("cluster.fabric.variation.slow_sigma", sets<&NicVariation::slow_sigma>, range(0, 2),
               optional, example("0.1"),
               "standard deviation of the logarithm of the factor of slow NICs"),
      whole_row("cluster.fabric.variation.seed", sets<&NicVariation::seed>, range(0, 1e8), optional,
                example("1"), "seed of the random differences"),
  };
}

}  // namespace

Rows fabric_rows() {
  return joined({form_rows(), tree_rows(), direct_rows(), site_rows(), graph_rows(), state_rows()});
}

}  // namespace windtunnel
