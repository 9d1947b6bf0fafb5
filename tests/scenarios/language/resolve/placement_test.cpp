#include "scenarios/language/resolve/placement.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

std::vector<int> read_places(const std::string& text, int nodes = 3, int machine_nodes = 4) {
  return read_placement(CsvTable::parse(text, "p.csv"), nodes, machine_nodes);
}

std::string placement_fault(const std::string& text) {
  return error_of([&] { read_places(text); });
}

TEST(Placement, IsARowForEachNodeOfTheJob) {
  EXPECT_EQ(read_places("node\n3\n0\n2\n"), (std::vector<int>{3, 0, 2}));
}

TEST(Placement, FaultsNameLineAndColumn) {
  EXPECT_EQ(placement_fault("node\n3\n4\n2\n"),
            "p.csv:3:1: there is no node 4; there are 4, counted from 0");
  EXPECT_EQ(placement_fault("node\n-1\n"),
            "p.csv:2:1: there is no node -1; there are 4, counted from 0");
  EXPECT_EQ(placement_fault("node\n3\n0\n3\n"),
            "p.csv:4:1: node 3 is also in line 2; list each node once");
  EXPECT_EQ(placement_fault("node\n3\n0\n"),
            "p.csv:3:1: the file ends after 2 of the job's 3 nodes");
  EXPECT_EQ(placement_fault("node\n"), "p.csv:1:1: the file ends after 0 of the job's 3 nodes");
  EXPECT_EQ(placement_fault("node\n0\n1\n2\n3\n"),
            "p.csv:5:1: the job has only 3 nodes; remove further rows");
  EXPECT_EQ(placement_fault("node,rack\n0,1\n"),
            "p.csv:1:1: unknown column 'rack'; a placement has one column, 'node'");
  EXPECT_TRUE(placement_fault("host\n0\n").starts_with("p.csv:1")) << placement_fault("host\n0\n");
  EXPECT_TRUE(placement_fault("node\nzero\n").starts_with("p.csv:2:1"))
      << placement_fault("node\nzero\n");
}

std::string placed_job(const std::string& fabric, const std::string& layout = "") {
  return "name: a\nmodel: {layers: 4, hidden: 1024, heads: 16, vocabulary: 32000, sequence: "
         "1024}\ncluster: {nodes: 2, node: dgx-h100" +
         fabric + "}\nlayout: {tp: 8" + layout + "}\nbatch: {global: 16, micro: 1}\n";
}

TEST(Placement, OfAJobThatHasAPartOfTheFabric) {
  const Case part = parse_case(placed_job(", fabric: {nodes: 6}"), "a.yaml");
  EXPECT_EQ(part.job.cluster.nodes, 2);
  EXPECT_EQ(part.job.cluster.fabric_nodes(), 6);
  EXPECT_TRUE(fails([] { parse_case(placed_job(", fabric: {nodes: 1}"), "a.yaml"); },
                    "a.yaml:3:53: cluster.fabric.nodes: is 1, but the job has 2"));
}

TEST(Placement, AnotherFileIsAnotherCase) {
  const std::string folder = testing::TempDir();
  const auto key = [&](const std::string& csv) {
    std::ofstream(folder + "/p.csv") << csv;
    return parse_case(placed_job(", fabric: {nodes: 6}", ", placement: p.csv"), folder + "/a.yaml")
        .key;
  };
  EXPECT_NE(key("node\n0\n5\n"), key("node\n5\n0\n"));
  EXPECT_TRUE(fails([&] { key("node\n6\n5\n"); },
                    "p.csv:2:1: there is no node 6; there are 6, counted from 0"));
}

}  // namespace
}  // namespace windtunnel
