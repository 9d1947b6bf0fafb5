#include "policies/shares/share_notes.hpp"

#include <gtest/gtest.h>

#include "tests/support/pool_job.hpp"

namespace windtunnel {
namespace {

TEST(ShareNotes, SayWhatAutoCameTo) {
  Job job = pool_job(PoolAxis::dp);
  std::vector<ReplicaKind> kinds = replica_kinds(job);
  EXPECT_TRUE(share_notes(job, kinds).empty());
  job.batch.shares = BatchShares::stated;
  job.batch.share_of_pool = {3, 1};
  share_batch(job, std::vector<double>{1, 1}, kinds);
  const std::vector<Note> notes = share_notes(job, kinds);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].key, "batch.shares");
  EXPECT_EQ(notes[0].figures,
            "2 replicas on new with 12 micro-batches of 1; 2 replicas on old with 4 micro-batches "
            "of 1");
}

}  // namespace
}  // namespace windtunnel
