#include <gtest/gtest.h>

#include "sim/study/notes/note_makers.hpp"

namespace windtunnel {
namespace {

PreparedIteration pipeline_of(const std::vector<double>& seconds) {
  PreparedIteration prepared;
  prepared.schedule.ranks = static_cast<int>(seconds.size());
  for (int rank = 0; rank < prepared.schedule.ranks; ++rank) {
    prepared.schedule.rank_of_stage.push_back(rank);
  }
  for (const double each : seconds) {
    ChunkCost& chunk = prepared.chunks.emplace_back();
    chunk.forward = {{Category::forward, Origin::spec, each / 3}};
    chunk.backward_input = {{Category::backward, Origin::spec, 2 * each / 3}};
  }
  return prepared;
}

Job job_of(int pp) {
  Job job;
  job.layout.pp = pp;
  return job;
}

TEST(UnevenStages, NamesTheRankThatOthersWaitFor) {
  const std::vector<Note> notes = uneven_stage_notes(job_of(4), pipeline_of({1, 1, 1, 2}));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].key, "layout.stages");
  EXPECT_TRUE(notes[0].text.starts_with(
      "pipeline rank 3 computes 2.0 times as long as the others, with the vocabulary, which idle"))
      << notes[0].text;
  EXPECT_EQ(notes[0].figures, "2.00 s per micro-batch, the others 1.00 s on average");
}

TEST(UnevenStages, IsSilentWhereStagesAreAlike) {
  EXPECT_TRUE(uneven_stage_notes(job_of(4), pipeline_of({1, 1, 1, 1.1})).empty());
  EXPECT_TRUE(uneven_stage_notes(job_of(1), pipeline_of({2})).empty());
}

}  // namespace
}  // namespace windtunnel
