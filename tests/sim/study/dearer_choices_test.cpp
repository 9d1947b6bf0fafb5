#include "sim/study/dearer_choices.hpp"

#include <gmock/gmock.h>

#include "scenarios/language/case.hpp"

namespace windtunnel {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Note> notes_of(const std::string& scenario, const Overrides& set) {
  const Case the_case = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/" + scenario + ".yaml", set);
  return dearer_choices(the_case.job, *the_case.prepared);
}

auto note(const std::string& key, const std::string& text) {
  return ElementsAre(testing::AllOf(Field(&Note::key, key), Field(&Note::text, HasSubstr(text))));
}

TEST(DearerChoices, Zero3OfFewLayersPerRank) {
  EXPECT_THAT(notes_of("mixtral-shared-nics",
                       {{"layout.sharding", "zero3"}, {"communication.overlap", "none"}}),
              note("layout.sharding", "zero3 needs "));
  EXPECT_THAT(notes_of("small", {{"layout.sharding", "zero3"}, {"layout.pp", "1"}}), IsEmpty());
}

TEST(DearerChoices, BucketsInALongPipeline) {
  EXPECT_THAT(notes_of("gpt3-175b-a100", {{"communication.overlap", "bucketed"}}),
              note("communication.overlap",
                   "a step is estimated at 33.7 s with bucketed, and at "
                   "33.5 s with none"));
  EXPECT_THAT(notes_of("gpt3-175b-a100", {{"communication.overlap", "none"}}), IsEmpty());
}

TEST(DearerChoices, ScalesOfBlocks) {
  EXPECT_THAT(notes_of("small", {{"precision", "mxfp8"}, {"communication.overlap", "none"}}),
              note("precision", "with mxfp8, and at 3."));
  EXPECT_THAT(notes_of("small", {{"precision", "fp8"}, {"communication.overlap", "none"}}),
              IsEmpty());
}

}  // namespace
}  // namespace windtunnel
