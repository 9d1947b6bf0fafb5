// Rows of the field table below "cluster.fabric".
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

constexpr double kMostNodes = 1e6;

std::vector<std::string> fabric_names() {
  return names_in(library_fabrics());
}

Rows form_rows() {
  return {
      map_row("cluster.fabric", {.shorthand = "base",
                                 .example = "{topology: rail-fat-tree, nodes_per_pod: 384}",
                                 .help = "the network between nodes: a name of the library, or its "
                                         "form"}),
      name_row("cluster.fabric.base", {.default_text = "full-bisection",
                                       .library = fabric_names,
                                       .example = "full-bisection",
                                       .help = "the fabric of the library to start from"}),
      whole_row<&Cluster::machine_nodes>(
          "cluster.fabric.nodes",
          {.low = 1,
           .high = kMostNodes,
           .optional = true,
           .example = "512",
           .help = "that it joins, where the job has only some of them: the first ones, or those "
                   "of layout.placement; left out: those of the job"}),
      name_row<&FabricSpec::topology>(
          "cluster.fabric.topology",
          {.optional = true,
           .example = "rail-fat-tree",
           .help = "NIC i of each node of a pod on a rail of its own (joined above the pods, "
                   "or not at all), all NICs of a pod on one level of leaves, three levels of "
                   "switches, a grid with wrap-around, groups of routers, sites on a wide-area "
                   "network, or any list of cables"}),
      name_row<&FabricSpec::transport>(
          "cluster.fabric.transport",
          {.optional = true,
           .example = "infiniband",
           .help = "wire and software beneath a collective between nodes"}),
      name_row<&FabricSpec::routing>(
          "cluster.fabric.routing",
          {.optional = true,
           .example = "ecmp",
           .help = "who picks among equal ways: packets take all, a hash of the connection, "
                   "parts of a connection in turn, or the least loaded way; adaptive: on a "
                   "dragonfly, detours too, as far as they relieve the busiest link"}),
      whole_row("cluster.fabric.uplinks",
                {.low = 1,
                 .high = 1e5,
                 .example = "16",
                 .help = "parallel links of the bundle above a leaf or pod, where the routing is "
                         "not spray; left out: as many as NICs below, divided by the "
                         "oversubscription"}),
      whole_row("cluster.fabric.parts", {.low = 1,
                                         .high = 1000,
                                         .example = "2",
                                         .help = "of a connection under split-single-path; left "
                                                 "out: as the fabric has"}),
      whole_row<&FabricSpec::routing_seed>("cluster.fabric.routing_seed",
                                           {.low = 0,
                                            .high = 1e8,
                                            .optional = true,
                                            .example = "1",
                                            .help = "of ecmp's hash; left out: as the fabric has"}),
      duration_row("cluster.fabric.hop_latency",
                   {.example = "300 ns", .help = "of one switch with its cables"}),
  };
}

Rows tree_rows() {
  return {
      whole_row("cluster.fabric.nodes_per_pod", {.low = 0,
                                                 .high = kMostNodes,
                                                 .example = "384",
                                                 .help = "nodes of a pod; 0: one pod holds all"}),
      fact_row("cluster.fabric.pod_oversubscription", Dimension::number,
               {.low = 1,
                .high = 1e6,
                .example = "7",
                .help = "NIC bandwidth of a pod / bandwidth of its uplinks"}),
      whole_row("cluster.fabric.nodes_per_leaf",
                {.low = 1, .high = kMostNodes, .example = "16", .help = "of a clos"}),
      fact_row("cluster.fabric.leaf_oversubscription", Dimension::number,
               {.low = 1,
                .high = 1e6,
                .example = "2",
                .help = "of a clos: NIC bandwidth of a leaf / bandwidth of its uplinks"}),
  };
}

Rows direct_rows() {
  return {
      list_row("cluster.fabric.dimensions",
               {.example = "[4, 4, 4]", .help = "of a torus: its nodes are their product"}),
      whole_row("cluster.fabric.dimensions.*",
                {.low = 1, .high = kMostNodes, .example = "4", .help = "nodes in one dimension"}),
      bandwidth_row("cluster.fabric.link",
                    {.example = "50 GB/s",
                     .help = "of a torus: a cable, per direction; left out: that of a NIC"}),
      list_row(
          "cluster.fabric.dimension_links",
          {.example = "[50 GB/s, 50 GB/s, 3 GB/s]",
           .help = "of a torus: a cable of each dimension, per direction, in place of `link`"}),
      bandwidth_row("cluster.fabric.dimension_links.*",
                    {.example = "50 GB/s", .help = "of the cables of one dimension"}),
      whole_row("cluster.fabric.nodes_per_router",
                {.low = 1, .high = 1000, .example = "4", .help = "of a dragonfly"}),
      whole_row("cluster.fabric.routers_per_group",
                {.low = 1, .high = 1e4, .example = "32", .help = "of a dragonfly"}),
      bandwidth_row("cluster.fabric.local",
                    {.example = "25 GB/s",
                     .help = "of a dragonfly: between two routers of a group, per direction"}),
      bandwidth_row("cluster.fabric.global",
                    {.example = "100 GB/s",
                     .help = "of a dragonfly: between two groups, the whole bundle, per "
                             "direction"}),
  };
}

Rows site_rows() {
  return {
      list_row("cluster.fabric.sites",
               {.example = "[{name: north, nodes: 16}, {name: south, nodes: 16}]",
                .help = "islands with a fat tree of their own, the nodes in order"}),
      map_row("cluster.fabric.sites.*",
              {.example = "{name: north, nodes: 16}", .help = "one island"}),
      text_row<&SiteSpec::name>(
          "cluster.fabric.sites.*.name",
          {.required = true, .example = "north", .help = "what its links are called by"}),
      whole_row<&SiteSpec::nodes>(
          "cluster.fabric.sites.*.nodes",
          {.low = 1, .high = kMostNodes, .required = true, .example = "16", .help = "of it"}),
      bandwidth_row<&SiteSpec::nic_Bps>(
          "cluster.fabric.sites.*.nic",
          {.optional = true,
           .example = "200 Gb/s",
           .help = "per NIC and direction; left out: as the node has"}),
      name_row<&SiteSpec::transport>("cluster.fabric.sites.*.transport",
                                     {.optional = true,
                                      .example = "roce",
                                      .help = "inside the site; left out: as the fabric"}),
      bandwidth_row(
          "cluster.fabric.wan",
          {.example = "400 Gb/s", .help = "access of a site to the others, per direction"}),
      duration_row("cluster.fabric.wan_latency",
                   {.example = "10 ms", .help = "between two sites, one way"}),
  };
}

Rows graph_rows() {
  return {
      list_row("cluster.fabric.edges", {.example = "[{a: node 0, b: leaf, bandwidth: 400 Gb/s}]",
                                        .help = "cables of a graph"}),
      map_row("cluster.fabric.edges.*",
              {.example = "{a: node 0, b: leaf, bandwidth: 400 Gb/s}", .help = "one cable"}),
      text_row<&EdgeSpec::a>(
          "cluster.fabric.edges.*.a",
          {.required = true,
           .example = "node 0",
           .help = "an end: 'node 3' with all its NICs, 'node 3 nic 1', or any other name, "
                   "which is a switch"}),
      text_row<&EdgeSpec::b>("cluster.fabric.edges.*.b",
                             {.required = true, .example = "leaf", .help = "the other end"}),
      bandwidth_row<&EdgeSpec::bandwidth_Bps>(
          "cluster.fabric.edges.*.bandwidth",
          {.required = true, .example = "400 Gb/s", .help = "per direction"}),
      text_row("cluster.fabric.edges_file",
               {.example = "fabric.csv",
                .help = "the cables as a CSV file with the columns a, b, bandwidth, beside the "
                        "scenario"}),
  };
}

// What is measured, broken or unequal.
Rows state_rows() {
  return {
      map_row("cluster.fabric.measured",
              {.example = "{all_reduce: 160 GB/s, all_gather: 170 GB/s}",
               .help = "bus bandwidth (nccl-tests' busbw) of one group over all GPUs, where "
                       "somebody measured it; bounds the collectives between nodes"}),
      bandwidth_row("cluster.fabric.measured.all_reduce",
                    {.example = "160 GB/s", .help = "of all-reduce"}),
      bandwidth_row("cluster.fabric.measured.all_gather",
                    {.example = "170 GB/s", .help = "of all-gather"}),
      bandwidth_row("cluster.fabric.measured.reduce_scatter",
                    {.example = "170 GB/s", .help = "of reduce-scatter"}),
      list_row("cluster.fabric.faults", {.default_text = "[]",
                                         .example = "[{link: pod-up 3 rail 2, factor: 0.5}]",
                                         .help = "links that failed or are degraded"}),
      map_row("cluster.fabric.faults.*",
              {.example = "{link: pod-up 3 rail 2, factor: 0.5}", .help = "one link"}),
      text_row<&LinkFault::link>("cluster.fabric.faults.*.link",
                                 {.required = true,
                                  .example = "pod-up 3 rail 2",
                                  .help = "its name; of a wrong one the error names the nearest"}),
      fact_row<&LinkFault::factor>(
          "cluster.fabric.faults.*.factor", Dimension::number,
          {.low = 0,
           .high = 1,
           .example = "0.5",
           .help = "share of the bandwidth that is left; 0: failed, and avoided where there "
                   "is another way"}),
      list_row("cluster.fabric.background", {.default_text = "[]",
                                             .example = "[{links: global, load: 0.3}]",
                                             .help = "what other people's traffic takes of links"}),
      map_row("cluster.fabric.background.*",
              {.example = "{links: global, load: 0.3}", .help = "of one link, or of many"}),
      text_row<&BackgroundLoad::links>(
          "cluster.fabric.background.*.links",
          {.required = true,
           .example = "global",
           .help = "the name of one, or the words with which those of all begin: nic-out, pod-up, "
                   "global 3; of a wrong one the error names the nearest"}),
      fact_row<&BackgroundLoad::load>("cluster.fabric.background.*.load", Dimension::number,
                                      {.low = 0,
                                       .high = 0.999,
                                       .required = true,
                                       .example = "0.3",
                                       .help = "share of the bandwidth that it takes on average"}),
      fact_row<&BackgroundLoad::duty>(
          "cluster.fabric.background.*.duty", Dimension::number,
          {.low = 0.001,
           .high = 1,
           .example = "0.4",
           .help = "share of the time in bursts, which take load / duty of the bandwidth; nothing "
                   "is taken between two; 1: the load is there all the time"}),
      fact_row<&BackgroundLoad::burst_s>(
          "cluster.fabric.background.*.burst", Dimension::seconds,
          {.low = 1e-5,
           .high = 1e6,
           .optional = true,
           .example = "50 ms",
           .help = "mean length of a burst; lengths are drawn, for each link on its own"}),
      whole_row<&FabricSpec::background_seed>("cluster.fabric.background_seed",
                                              {.low = 0,
                                               .high = 1e8,
                                               .optional = true,
                                               .example = "2",
                                               .help = "of the bursts: vary it"}),
      map_row("cluster.fabric.variation",
              {.example = "{sigma: 0.02, slow_share: 0.01, slow_factor: 0.5}",
               .help = "NICs (with cable and port) are not equal: each runs at a factor drawn once "
                       "from a log-normal below 1"}),
      fact_row<&NicVariation::sigma>("cluster.fabric.variation.sigma", Dimension::number,
                                     {.low = 0,
                                      .high = 2,
                                      .optional = true,
                                      .example = "0.02",
                                      .help = "of the logarithm of the factor"}),
      fact_row<&NicVariation::slow_share>(
          "cluster.fabric.variation.slow_share", Dimension::number,
          {.low = 0,
           .high = 1,
           .optional = true,
           .example = "0.01",
           .help = "of the NICs, drawn around slow_factor instead"}),
      fact_row<&NicVariation::slow_factor>("cluster.fabric.variation.slow_factor",
                                           Dimension::number,
                                           {.low = 0,
                                            .above_low = true,
                                            .high = 1,
                                            .optional = true,
                                            .example = "0.5",
                                            .help = "of the bandwidth of the slow ones"}),
      fact_row<&NicVariation::slow_sigma>("cluster.fabric.variation.slow_sigma", Dimension::number,
                                          {.low = 0,
                                           .high = 2,
                                           .optional = true,
                                           .example = "0.1",
                                           .help = "of the logarithm of their factor"}),
      whole_row<&NicVariation::seed>(
          "cluster.fabric.variation.seed",
          {.low = 0, .high = 1e8, .optional = true, .example = "1", .help = "of the drawing"}),
  };
}

}  // namespace

Rows fabric_rows() {
  return joined({form_rows(), tree_rows(), direct_rows(), site_rows(), graph_rows(), state_rows()});
}

}  // namespace windtunnel
