// Fabrics of every form in scenarios: accepted keys reach the fabric, others are refused at their
// place.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "models/machine/links/links.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/text/fields.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

std::string fabric_scenario(const std::string& fabric) {
  return fmt::format(
      "name: a\nmodel: llama3-8b\n"
      "cluster:\n  nodes: 8\n  node: dgx-h100\n  fabric: {}\n"
      "layout: {{tp: 8, dp: 8}}\nbatch: {{global: 64}}\n",
      fabric);
}

FabricSpec fabric_of(const std::string& fabric) {
  return parse_case(fabric_scenario(fabric), "a.yaml").job.cluster.fabric;
}

// A fabric of each form, with every key that the form has.
const std::vector<std::string>& good_fabrics() {
  static const std::vector<std::string> fabrics = {
      "{base: full-bisection, topology: rail-fat-tree, transport: roce, routing: ecmp, uplinks: 4, "
      "routing_seed: 7, nodes_per_pod: 4, pod_oversubscription: 2, hop_latency: 200 ns, "
      "measured: {all_reduce: 160 GB/s, all_gather: 170 GB/s, reduce_scatter: 165 GB/s}, "
      "variation: {sigma: 0.02, slow_share: 0.01, slow_factor: 0.5, slow_sigma: 0.1, seed: 3}, "
      "faults: [{link: pod-up 0 rail 1 way 2, factor: 0.5}, {link: nic-out 3, factor: 0.5}]}",
      "{topology: clos, nodes_per_pod: 4, pod_oversubscription: 4, nodes_per_leaf: 2, "
      "leaf_oversubscription: 2, routing: split-single-path, parts: 4}",
      "{topology: rail-only, nodes_per_pod: 0, background: [{links: nic-out, load: 0.2, duty: 0.5, "
      "burst: "
      "10 ms}], background_seed: 2}",
      "{topology: fat-tree, routing: planned}",
      "{topology: torus, dimensions: [4, 2], link: 25 GB/s, faults: [{link: torus 0 +x}]}",
      "{topology: dragonfly, nodes_per_router: 1, routers_per_group: 2, local: 25 GB/s, "
      "global: 100 GB/s, routing: adaptive, faults: [{link: global 0 to 1}], "
      "background: [{links: global, load: 0.3}, {links: local 1, load: 0.5}]}",
      "{topology: sites, sites: [{name: north, nodes: 6, nic: 200 Gb/s, transport: roce}, "
      "{name: south, nodes: 2}], wan: 400 Gb/s, wan_latency: 10 ms}",
      "{topology: graph, edges: [{a: node 0, b: leaf, bandwidth: 400 Gb/s}, "
      "{a: node 1, b: leaf, bandwidth: 400 Gb/s}, {a: node 2, b: leaf, bandwidth: 400 Gb/s}, "
      "{a: node 3, b: leaf, bandwidth: 400 Gb/s}, {a: node 4, b: leaf, bandwidth: 400 Gb/s}, "
      "{a: node 5, b: leaf, bandwidth: 400 Gb/s}, {a: node 6, b: leaf, bandwidth: 400 Gb/s}, "
      "{a: node 7, b: leaf, bandwidth: 400 Gb/s}]}",
      "{topology: torus, dimensions: [2, 2], link: 25 GB/s, slices: 2, wan: 3 GB/s, wan_latency: 1 "
      "ms}",
      "{topology: torus, transport: ici, dimensions: [4, 2], dimension_links: [50 GB/s, 3 GB/s]}"};
  return fabrics;
}

void collect_keys(const DocumentNode& node, const std::string& path, std::set<std::string>& keys) {
  keys.insert(pattern_of(path));
  for (const DocumentEntry& entry : node.entries) {
    collect_keys(entry.value, join_path(path, entry.key), keys);
  }
  for (const DocumentNode& item : node.items) collect_keys(item, path + ".*", keys);
}

TEST(Fabrics, BurstsHaveALengthAndRoomForThem) {
  const auto message = [](const std::string& load) {
    return parse_message(fabric_scenario("{topology: fat-tree, background: [" + load + "]}"),
                         "a.yaml");
  };
  using testing::HasSubstr;
  EXPECT_THAT(message("{links: nic-out, load: 0.2, duty: 0.5}"),
              HasSubstr("the length is missing"));
  EXPECT_THAT(message("{links: nic-out, load: 0.2, burst: 1 ms}"),
              HasSubstr("the duty is missing"));
  EXPECT_THAT(message("{links: nic-out, load: 0.6, duty: 0.5, burst: 1 ms}"),
              HasSubstr("at most 0.95 is possible"));
  const std::string one = "{links: nic-out, load: 0.2, duty: 0.5, burst: 1 ms}";
  EXPECT_THAT(message(one + ", " + one), HasSubstr("a link can have only one such load"));
  EXPECT_EQ(message(one + ", {links: nic-out, load: 0.2}"), "no error");
}

TEST(Fabrics, EveryKeyIsAcceptedWhereItBelongs) {
  // These keys have tests of their own.
  std::set<std::string> keys = {"cluster.fabric.edges_file", "cluster.fabric.nodes"};
  for (const std::string& fabric : good_fabrics()) {
    EXPECT_EQ(parse_message(fabric_scenario(fabric), "a.yaml"), "no error") << fabric;
    collect_keys(parse_document(fabric, "a.yaml"), "cluster.fabric", keys);
  }
  for (const Field& field : field_table()) {
    if (!field.path.starts_with("cluster.fabric")) continue;
    EXPECT_TRUE(keys.contains(std::string(field.path))) << field.path;
  }
}

TEST(Fabrics, ValuesArriveInTheSpec) {
  const FabricSpec tree = fabric_of(good_fabrics()[0]);
  EXPECT_EQ(tree.topology, Topology::rail_fat_tree);
  EXPECT_EQ(tree.transport, Transport::roce);
  EXPECT_EQ(tree.routing, Routing::ecmp);
  EXPECT_EQ(tree.uplinks, 4);
  EXPECT_EQ(tree.routing_seed, 7U);
  EXPECT_EQ(tree.nodes_per_pod, 4);
  EXPECT_EQ(tree.pod_oversubscription, 2);
  EXPECT_EQ(tree.variation, (NicVariation{0.02, 0.01, 0.5, 0.1, 3}));
  ASSERT_EQ(tree.faults.size(), 2U);
  EXPECT_EQ(tree.faults[0].link, "pod-up 0 rail 1 way 2");
  EXPECT_EQ(tree.faults[0].factor, 0.5);

  const FabricSpec clos = fabric_of(good_fabrics()[1]);
  EXPECT_EQ(clos.topology, Topology::clos);
  EXPECT_EQ(clos.nodes_per_leaf, 2);
  EXPECT_EQ(clos.leaf_oversubscription, 2);
  EXPECT_EQ(clos.routing, Routing::split_single_path);
  EXPECT_EQ(clos.parts, 4);
  EXPECT_EQ(fabric_of(good_fabrics()[2]).topology, Topology::rail_only);
  EXPECT_EQ(fabric_of(good_fabrics()[3]).routing, Routing::planned);

  const FabricSpec torus = fabric_of(good_fabrics()[4]);
  EXPECT_EQ(torus.dimensions, (std::vector<int>{4, 2}));
  EXPECT_EQ(torus.link_Bps.value, 25e9);
  const FabricSpec pods = fabric_of(good_fabrics().back());
  EXPECT_EQ(pods.transport, Transport::ici);
  EXPECT_EQ(pods.dimension_Bps, (std::vector<double>{50e9, 3e9}));
  EXPECT_EQ(torus.faults[0].factor, 0);

  const FabricSpec dragonfly = fabric_of(good_fabrics()[5]);
  EXPECT_EQ(dragonfly.nodes_per_router, 1);
  EXPECT_EQ(dragonfly.routers_per_group, 2);
  EXPECT_EQ(dragonfly.local_Bps.value, 25e9);
  EXPECT_EQ(dragonfly.global_Bps.value, 100e9);
  EXPECT_EQ(dragonfly.routing, Routing::adaptive);
  EXPECT_EQ(dragonfly.background, (std::vector<BackgroundLoad>{{"global", 0.3}, {"local 1", 0.5}}));

  const FabricSpec sites = fabric_of(good_fabrics()[6]);
  ASSERT_EQ(sites.sites.size(), 2U);
  EXPECT_EQ(sites.sites[0].name, "north");
  EXPECT_EQ(sites.sites[0].nic_Bps, 25e9);
  EXPECT_EQ(sites.sites[0].transport, Transport::roce);
  EXPECT_EQ(sites.sites[1].nodes, 2);
  EXPECT_EQ(sites.sites[1].transport, Transport::infiniband);
  EXPECT_EQ(sites.wan_Bps.value, 50e9);
  EXPECT_EQ(sites.wan_latency_s.value, 10e-3);

  const FabricSpec graph = fabric_of(good_fabrics()[7]);
  ASSERT_EQ(graph.edges.size(), 8U);
  EXPECT_EQ(graph.edges[7].a, "node 7");
  EXPECT_EQ(graph.edges[7].bandwidth_Bps, 50e9);
}

// Slices form a further dimension, whose cables belong to the data-centre network.
TEST(Fabrics, SlicesOfATorusAreJoined) {
  const FabricSpec joined = fabric_of(good_fabrics()[8]);
  EXPECT_EQ(joined.dimensions, (std::vector<int>{2, 2, 2}));
  EXPECT_EQ(joined.dimension_Bps, (std::vector<double>{25e9, 25e9, 3e9}));
  const FabricSpec library = fabric_of("{base: torus-tpuv5e, dimensions: [4, 1], slices: 2}");
  EXPECT_EQ(library.dimension_Bps, (std::vector<double>{50e9, 50e9, 3.125e9}));
  EXPECT_GT(library.wan_latency_s.value, 0);
  // The two cables of a node to other slices share its bandwidth to the data-centre network.
  const FabricSpec four = fabric_of("{base: torus-tpuv5e, dimensions: [2, 1], slices: 4}");
  EXPECT_EQ(four.dimension_Bps, (std::vector<double>{50e9, 50e9, 3.125e9 / 2}));
  EXPECT_EQ(fabric_of("{base: torus-tpuv5e, dimensions: [4, 2]}").wan_Bps.value, 0);
  const FabricSpec one = fabric_of("{base: torus-tpuv5p, dimensions: [2, 2, 2], slices: 1}");
  EXPECT_EQ(one.dimensions, (std::vector<int>{2, 2, 2}));
  EXPECT_EQ(one.wan_Bps.value, 0);
  const auto fault = [](const std::string& fabric) {
    return parse_message(fabric_scenario(fabric), "a.yaml");
  };
  EXPECT_THAT(
      fault("{base: torus-tpuv5p, dimensions: [2, 2], slices: 2}"),
      testing::HasSubstr("cluster.fabric.slices: needs 'wan' of the network between slices"));
  EXPECT_THAT(fault("{base: torus-tpuv5e, dimensions: [4, 2], wan: 5 GB/s}"),
              testing::HasSubstr(
                  "cluster.fabric.wan: on a torus this key is for the network between slices"));
}

TEST(Fabrics, OfTheLibrary) {
  EXPECT_EQ(fabric_of("alps").topology, Topology::dragonfly);
  EXPECT_EQ(fabric_of("alps").transport, Transport::slingshot);
  EXPECT_EQ(fabric_of("{base: torus-tpuv4, dimensions: [2, 2, 2]}").link_Bps.value, 50e9);
  for (const char* name : {"frontier", "polaris", "sirius", "rail-only-h100", "clos-3-level",
                           "fire-flyer", "gb200-nvl72", "superpod-h100"}) {
    EXPECT_EQ(parse_message(fabric_scenario(name), "a.yaml"), "no error") << name;
  }
}

// Each key that belongs to another topology or routing is refused.
TEST(Fabrics, KeysOfAnotherForm) {
  for (const std::string& key : child_keys("cluster.fabric")) {
    const Field& field = *find_field(join_path("cluster.fabric", key));
    for (const char* topology : {"fat-tree", "torus"}) {
      if (belongs_to(key, value_of<Topology>(topology))) continue;
      const std::string fabric =
          fmt::format("{{topology: {}, {}: {}}}", topology, key, field.example);
      const std::string message = parse_message(fabric_scenario(fabric), "a.yaml");
      // A list is located by its key. The value itself begins at column 11.
      const std::string_view at = field.example.starts_with('[') ? key : field.example;
      EXPECT_TRUE(message.starts_with(fmt::format(
          "a.yaml:6:{}: cluster.fabric.{}: is a key of topology ", fabric.find(at) + 11, key)))
          << message;
      const std::string end = fmt::format(", but this fabric has topology {}", topology);
      EXPECT_TRUE(message.ends_with(end)) << message;
      EXPECT_EQ(message.find(topology), message.size() - std::string_view(topology).size());
    }
  }
}

TEST(Fabrics, Refused) {
  const std::string leaf = "bandwidth: 400 Gb/s}";
  const auto edges = [&](int nodes, const std::string& more) {
    std::string list;
    for (int node = 0; node < nodes; ++node) {
      list += fmt::format("{{a: node {}, b: {}, {}, ", node, node < 4 ? "east" : "west", leaf);
    }
    return fmt::format("{{topology: graph, edges: [{}{}]}}", list, more);
  };
  const std::string joined = "{a: east, b: west, bandwidth: 1 TB/s}";
  EXPECT_EQ(parse_message(fabric_scenario(edges(8, joined)), "a.yaml"), "no error");
  const std::string dragonfly =
      "{topology: dragonfly, nodes_per_router: 1, routers_per_group: 2, "
      "local: 25 GB/s, global: 100 GB/s, ";
  const std::string torus = "{topology: torus, dimensions: ";
  const std::string sites = "{topology: sites, wan: 400 Gb/s, sites: ";
  const std::vector<std::string> bad = {
      "{topology: dragonflies}",
      "{topology: hypercube}",
      "{transport: slingshoot}",
      "{routing: emcp}",
      "full-bisecton",
      torus + "[4, 3]}",
      torus + "[4, 4]}",
      torus + "[8]}",
      torus + "[]}",
      torus + "[0, 8]}",
      torus + "8}",
      torus + "[4, 2], link: -1 GB/s}",
      torus + "[4, 2], dimension_links: [50 GB/s]}",
      torus + "[4, 2], link: 50 GB/s, dimension_links: [50 GB/s, 5 GB/s]}",
      "{topology: torus}",
      "{topology: clos, nodes_per_pod: 4}",
      "{topology: clos, nodes_per_pod: 4, nodes_per_leaf: 5}",
      "{topology: dragonfly, nodes_per_router: 1, local: 25 GB/s, global: 100 GB/s}",
      "{topology: dragonfly, routers_per_group: 2, local: 25 GB/s, global: 100 GB/s}",
      "{topology: dragonfly, nodes_per_router: 1, routers_per_group: 2, local: 25 GB/s}",
      "{topology: dragonfly, nodes_per_router: 1, routers_per_group: 2, global: 25 GB/s}",
      sites + "[{name: a, nodes: 4}, {name: b, nodes: 5}]}",
      sites + "[{name: a, nodes: 4}, {name: a, nodes: 4}]}",
      sites + "[{nodes: 8}]}",
      sites + "[{name: a, nodes: 8, transport: ethernet}]}",
      "{topology: sites, wan: 400 Gb/s}",
      "{topology: sites, sites: [{name: a, nodes: 4}, {name: b, nodes: 4}]}",
      edges(8, ""),
      edges(7, joined),
      edges(8, joined + ", {a: node 8, b: east, bandwidth: 400 Gb/s}"),
      edges(8, joined + ", {a: node 7 nic 8, b: east, bandwidth: 400 Gb/s}"),
      edges(8, joined + ", {a: node seven, b: east, bandwidth: 400 Gb/s}"),
      edges(8, joined + ", {a: east, b: east, bandwidth: 400 Gb/s}"),
      edges(8, joined + ", {a: node 0, b: west, bandwidth: -400 Gb/s}"),
      edges(8, joined + ", {a: node 0, b: west, bandwidth: 400 GB}"),
      edges(8, joined + ", {a: node 0, b: west}"),
      "{topology: graph}",
      "{uplinks: 4}",
      "{uplinks: 4, routing: spray}",
      "{parts: 4, routing: ecmp}",
      "{routing_seed: 4}",
      "{nodes_per_pod: 4, faults: [{link: pod-up 0 rial 3}]}",
      "{nodes_per_pod: 4, faults: [{link: cable}]}",
      "{nodes_per_pod: 4, faults: [{link: pod-up 0 rail 3}]}",
      "{nodes_per_pod: 4, faults: [{link: pod-up 0 rail 3, factor: 1.5}]}",
      "{nodes_per_pod: 4, faults: [{factor: 0.5}]}",
      "{faults: [{link: nic-out 64, factor: 0.5}]}",
      "{faults: [{link: nic-out 63}]}",
      torus + "[8, 1], faults: [{link: torus 0 +x}, {link: torus 0 -x}]}",
      torus + "[8, 1], faults: [{link: torus 0 +y}]}",
      dragonfly + "faults: [{link: global 0 to 4}]}",
      dragonfly + "faults: [{link: global 0 to 1}, {link: global 0 to 2}, {link: global 0 to 3}]}",
      "{routing: adaptive}",
      torus + "[4, 2], routing: adaptive}",
      "{nodes_per_pod: 4, background: [{links: pod-pu, load: 0.3}]}",
      "{nodes_per_pod: 4, background: [{links: pod-up 2, load: 0.3}]}",
      "{nodes_per_pod: 4, background: [{links: pod-up, load: 1}]}",
      "{nodes_per_pod: 4, background: [{links: pod-up}]}",
      "{background: [{links: nic-out 64, load: 0.3}]}",
      "{background: [{links: nvlink-out, load: 0.3}]}",
      "{background: {links: pod-up, load: 0.3}}",
      "{variation: {slow_factor: 0}}",
      "{variation: {sigma: 3}}",
  };
  std::string text;
  for (const std::string& fabric : bad) {
    const std::string message = parse_message(fabric_scenario(fabric), "a.yaml");
    EXPECT_TRUE(message.starts_with("a.yaml:6:")) << fabric << "\n" << message;
    text += message + "\n";
  }
  expect_golden("fabrics.txt", text);
}

class EdgesFile : public ::testing::Test {
 protected:
  std::string folder_ = ::testing::TempDir() + fmt::format("/fabric_{}", getpid());

  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Case read(const std::string& csv, const std::string& more = "") const {
    std::ofstream(folder_ + "/fabric.csv") << csv;
    return parse_case(
        fabric_scenario(fmt::format("{{topology: graph, edges_file: fabric.csv{}}}", more)),
        folder_ + "/a.yaml");
  }

  // Returns the message without the path of the folder.
  std::string message(const std::string& csv, const std::string& more = "") const {
    std::string text = error_of([&] { read(csv, more); });
    for (size_t at = text.find(folder_); at != std::string::npos; at = text.find(folder_)) {
      text.erase(at, folder_.size() + 1);
    }
    return text;
  }

  static std::string star(int nodes) {
    std::string csv = "a,b,bandwidth\n";
    for (int node = 0; node < nodes; ++node) csv += fmt::format("node {},leaf,400 Gb/s\n", node);
    return csv;
  }
};

TEST_F(EdgesFile, SaysTheSameAsAList) {
  const Case from_file = read(star(8));
  EXPECT_EQ(from_file.job.cluster.fabric.edges.size(), 8U);
  EXPECT_EQ(from_file.job.cluster.fabric.edges[3].a, "node 3");
  EXPECT_EQ(from_file.job.cluster.fabric.edges[3].bandwidth_Bps, 50e9);
  // Another network in a file of the same name makes another case.
  EXPECT_NE(from_file.key, read(star(8) + "node 0,leaf,400 Gb/s\n").key);
}

TEST_F(EdgesFile, FaultsNameLineAndColumn) {
  EXPECT_EQ(message(star(8) + "node 8,leaf,400 Gb/s\n"),
            "a.yaml:6:41: cluster.fabric.edges_file: fabric.csv:10:1: a: there is no node 8; there "
            "are 8, counted from 0");
  EXPECT_EQ(message(star(8) + "spine,node 7 nic 9,400 Gb/s\n"),
            "a.yaml:6:41: cluster.fabric.edges_file: fabric.csv:10:2: b: a node has no NIC 9; it "
            "has 8, counted from 0");
  EXPECT_EQ(message(star(8) + "spine,leaf,400 parsecs\n").substr(0, 80),
            "a.yaml:6:41: cluster.fabric.edges_file: fabric.csv:10:3: bandwidth: '400 parsecs");
  EXPECT_EQ(message(star(8) + "spine,leaf,-4 Gb/s\n"),
            "a.yaml:6:41: cluster.fabric.edges_file: fabric.csv:10:3: bandwidth: must be above 0, "
            "not -4 Gb/s");
  EXPECT_EQ(message("a,c,bandwidth\n").substr(0, 52),
            "a.yaml:6:41: cluster.fabric.edges_file: fabric.csv:1");
  EXPECT_EQ(message(star(7)),
            "a.yaml:6:41: cluster.fabric.edges_file: no cable reaches NIC 0 of node 7; add e.g. "
            "{a: node 7, b: leaf, bandwidth: 400 Gb/s}");
  EXPECT_EQ(message(star(8), ", edges: [{a: node 0, b: leaf, bandwidth: 1 GB/s}]"),
            "a.yaml:6:41: cluster.fabric.edges_file: list the cables either in 'edges' or in a "
            "file, not both");
  EXPECT_NE(error_of([] {
              parse_case(fabric_scenario("{topology: graph, edges_file: missing.csv}"), "a.yaml");
            }),
            "no error");
}

}  // namespace
}  // namespace windtunnel
