#include <gmock/gmock.h>

#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/notes/note_makers.hpp"

namespace windtunnel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Note> notes_of(const std::string& scenario, const Overrides& set) {
  const Case the_case = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/" + scenario + ".yaml", set);
  return dearer_choices(the_case.job, *the_case.prepared, software_of(the_case));
}

auto note(const std::string& key, const std::string& text, const std::string& figures) {
  return ElementsAre(testing::AllOf(testing::Field(&Note::key, key),
                                    testing::Field(&Note::text, HasSubstr(text)),
                                    testing::Field(&Note::figures, HasSubstr(figures))));
}

TEST(DearerChoices, Zero3OfFewLayersPerRank) {
  EXPECT_THAT(notes_of("mixtral-shared-nics",
                       {{"layout.sharding", "zero3"}, {"communication.overlap", "none"}}),
              note("layout.sharding", "take more than it saves",
                   "24.6 GiB instead of 24.5 GiB on the fullest GPU"));
  EXPECT_THAT(notes_of("small", {{"layout.sharding", "zero3"},
                                 {"layout.pp", "1"},
                                 {"communication.overlap", "none"}}),
              IsEmpty());
}

// torchtitan runs zero1 in a pipeline, so zero2 is not a choice there.
TEST(DearerChoices, NotWhatTheSoftwareDoesNotDo) {
  const Overrides zero3 = {{"layout.sharding", "zero3"}, {"communication.overlap", "none"}};
  Overrides named = zero3;
  named.emplace_back("software.base", "torchtitan");
  ASSERT_EQ(notes_of("mixtral-shared-nics", zero3).size(), 1U);
  EXPECT_THAT(notes_of("mixtral-shared-nics", named), IsEmpty());
}

TEST(DearerChoices, BucketsInALongPipeline) {
  EXPECT_THAT(notes_of("gpt3-175b-a100", {{"communication.overlap", "bucketed"}}),
              note("communication.overlap", "slow its kernels (overlap.slowdown",
                   "33.4 s instead of 33.2 s per step"));
  EXPECT_THAT(notes_of("gpt3-175b-a100", {{"communication.overlap", "none"}}), IsEmpty());
}

// The note states the true reason: if the reason is removed, there is no note.
TEST(DearerChoices, BucketsThatSlowNoKernels) {
  const Case stated = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/gpt3-175b-a100.yaml",
                                {{"communication.overlap", "bucketed"}});
  Job job = stated.job;
  job.calibration.overlap_slowdown.value = 0;
  EXPECT_THAT(dearer_choices(job, prepare_iteration(job), nullptr), IsEmpty());
}

TEST(DearerChoices, ScalesOfBlocks) {
  EXPECT_THAT(notes_of("small", {{"precision", "mxfp8"}, {"communication.overlap", "none"}}),
              note("precision", "passes over each tensor once more", "instead of 3."));
  EXPECT_THAT(notes_of("small", {{"precision", "fp8"}, {"communication.overlap", "none"}}),
              IsEmpty());
}

}  // namespace
}  // namespace windtunnel
