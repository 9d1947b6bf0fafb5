#include "sim/study/pool_notes.hpp"

#include <gtest/gtest.h>

#include "policies/iteration.hpp"
#include "tests/support/pool_job.hpp"

namespace windtunnel {
namespace {

TEST(PoolNotes, SayWhatAutoCameTo) {
  Job job = pool_job(PoolAxis::dp);
  EXPECT_TRUE(pool_notes(job, prepare_iteration(job)).empty());
  job.batch.shares = BatchShares::stated;
  job.batch.share_of_pool = {3, 1};
  const std::vector<Note> notes = pool_notes(job, prepare_iteration(job));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].key, "batch.shares");
  EXPECT_EQ(notes[0].figures,
            "2 replicas on new with 12 micro-batches of 1; 2 replicas on old with 4 micro-batches "
            "of 1");
}

}  // namespace
}  // namespace windtunnel
