#include <gtest/gtest.h>

#include <algorithm>

#include "scenarios/language/library/library.hpp"
#include "sim/study/notes/note_makers.hpp"

namespace windtunnel {
namespace {

TEST(UnlikelyMachine, BytesStatedForBitsAreTold) {
  Cluster cluster;
  cluster.node = *std::ranges::find(library_nodes(), "dgx-h100", &NodeSpec::name);
  cluster.node.nic_Bps.value = 400e9;
  const std::vector<Note> notes = unlikely_machine_notes(cluster);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].key, "cluster.node.nic");
  EXPECT_TRUE(notes[0].text.starts_with("3200 Gb/s is much for a NIC of dgx-h100"))
      << notes[0].text;
  EXPECT_TRUE(notes[0].text.ends_with("a NIC of 400 Gb/s carries 50 GB/s")) << notes[0].text;
}

TEST(UnlikelyMachine, NoNodeOfTheLibraryIs) {
  for (const NodeSpec& node : library_nodes()) {
    Cluster cluster;
    cluster.node = node;
    EXPECT_TRUE(unlikely_machine_notes(cluster).empty()) << node.name;
  }
}

TEST(DrawnNics, AreToldWithTheirSeed) {
  Cluster cluster;
  EXPECT_TRUE(drawn_nics_notes(cluster).empty());
  cluster.fabric.variation = {.slow_share = 0.01, .slow_factor = 0.5, .seed = 7};
  const std::vector<Note> notes = drawn_nics_notes(cluster);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].key, "cluster.fabric.variation");
  EXPECT_EQ(notes[0].figures, "seed 7");
}

}  // namespace
}  // namespace windtunnel
