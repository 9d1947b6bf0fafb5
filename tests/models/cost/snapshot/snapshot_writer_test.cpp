#include "models/cost/snapshot/snapshot_writer.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "models/base/find_named.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

TEST(SnapshotWriter, PartsAreWhatAProcessWritesForOthers) {
  SnapshotWriter writer;
  Job job = small_job(2, 2, 4);
  job.layout.sharding = Sharding::none;
  EXPECT_EQ(writer_parts(writer, job.layout), 1);
  writer.ranks = WritingRanks::holders;
  EXPECT_EQ(writer_parts(writer, job.layout), 4);  // four replicas hold each shard
  job.layout.sharding = Sharding::zero1;
  EXPECT_EQ(writer_parts(writer, job.layout), 1);  // shards have no replicas
  writer.ranks = WritingRanks::one;
  EXPECT_EQ(writer_parts(writer, job.layout), 16);
}

TEST(SnapshotWriter, EveryNumberHasItsRangeAndSource) {
  for (const NamedWriter& writer : snapshot_writers()) {
    EXPECT_GT(writer.write_Bps.value, 0) << writer.name;
    for (const Parameter& number :
         {writer.write_Bps, writer.read_Bps, writer.copy_Bps, writer.start_s}) {
      if (number.value == 0) continue;
      EXPECT_LT(number.low, number.value) << writer.name;
      EXPECT_GT(number.high, number.value) << writer.name;
      EXPECT_FALSE(number.source.empty()) << writer.name;
    }
  }
  EXPECT_THROW(find_named(snapshot_writers(), "writer", "torch.save"), Error);
}

}  // namespace
}  // namespace windtunnel
