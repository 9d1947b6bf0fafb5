#include "models/reliability/snapshot_place.hpp"

#include <gtest/gtest.h>

#include "models/cost/snapshot/restore_cost.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// Slowing a place lengthens the saves of its own tier and of no other.
TEST(SnapshotPlace, BytesGoWhereTheRowSays) {
  const Job job = small_job(1, 2, 4);
  Cluster slow_disks = job.cluster;
  slow_disks.node.local_disk_Bps = spec(1e6);
  Cluster slow_storage = job.cluster;
  slow_storage.storage.write_Bps = spec(1e6);
  const SavedState state = saved_state({6e9, 10e9}, job.layout);
  for (const PlaceTraits& row : kSnapshotPlaces) {
    SCOPED_TRACE(name_of(row.place));
    SnapshotTier tier{.place = row.place, .every_iterations = row.copied ? 1 : 0};
    if (row.code == PlaceCode::always) tier.code = {.name = CodeName::copies, .parity = 1};
    const auto seconds = [&](const Cluster& cluster) {
      return save_s(tier, state, job.layout, cluster, job.calibration);
    };
    EXPECT_EQ(seconds(job.cluster) > 0, row.copied);
    EXPECT_EQ(seconds(slow_disks) > 1000, row.on_own_drives());
    EXPECT_EQ(seconds(slow_storage) > 1000, row.storage(job.cluster) != nullptr);
  }
}

// Users of the table need rows without contradictions.
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
