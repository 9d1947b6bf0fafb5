#include "models/reliability/snapshot_place.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(SnapshotPlace, RowsSayWhatEachPlaceIs) {
  struct Expected {
    std::string_view word;
    bool copied, of_process, of_node, outlives_stop, in_host_memory, keeps_several, on_own_drives;
  };
  const std::vector<Expected> expected = {
      {"host-memory", true, true, true, true, true, false, false},
      {"peers", true, true, true, true, true, false, false},
      {"local-disk", true, false, true, true, false, true, true},
      {"storage", true, false, false, true, false, true, false},
      {"replicas", false, false, true, false, false, false, false}};
  ASSERT_EQ(expected.size(), kSnapshotPlaces.size());
  for (const Expected& place : expected) {
    const PlaceTraits& row = traits_of(value_of<SnapshotPlace>(place.word));
    EXPECT_EQ(name_of(row.place), place.word);
    EXPECT_FALSE(row.help.empty()) << place.word;
    EXPECT_EQ(row.copied, place.copied) << place.word;
    EXPECT_EQ(row.of_process, place.of_process) << place.word;
    EXPECT_EQ(row.of_node, place.of_node) << place.word;
    EXPECT_EQ(row.outlives_stop, place.outlives_stop) << place.word;
    EXPECT_EQ(row.in_host_memory(), place.in_host_memory) << place.word;
    EXPECT_EQ(row.keeps_several(), place.keeps_several) << place.word;
    EXPECT_EQ(row.on_own_drives(), place.on_own_drives) << place.word;
  }
}

// A row that contradicts itself would be a fault of what asks it.
TEST(SnapshotPlace, RowsAgreeWithThemselves) {
  const Cluster cluster;
  for (const PlaceTraits& row : kSnapshotPlaces) {
    SCOPED_TRACE(name_of(row.place));
    EXPECT_TRUE(row.copied || !row.way) << "nothing moves";
    EXPECT_FALSE(row.of_process && row.way) << "processes hold what is in memory";
    EXPECT_EQ(row.storage(cluster) != nullptr, row.way && !row.on_own_drives());
    EXPECT_FALSE(row.code != PlaceCode::none && !row.of_node)
        << "a code restores what lost nodes take along";
  }
}

TEST(SnapshotPlace, StorageIsThatOfTheCluster) {
  const Cluster cluster;
  EXPECT_EQ(traits_of(SnapshotPlace::storage).storage(cluster), &cluster.storage);
  EXPECT_EQ(traits_of(SnapshotPlace::local_disk).storage(cluster), nullptr);
}

TEST(SnapshotPlace, ACodeIsOverNodesOrInsideOne) {
  EXPECT_TRUE(over_nodes({.name = CodeName::copies, .parity = 1}));
  EXPECT_FALSE(over_nodes({.name = CodeName::xor_parity, .data = 3, .parity = 1, .in_node = true}));
  EXPECT_FALSE(over_nodes({}));
}

}  // namespace
}  // namespace windtunnel
