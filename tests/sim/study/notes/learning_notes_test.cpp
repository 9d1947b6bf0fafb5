#include <gmock/gmock.h>

#include "scenarios/language/case.hpp"
#include "sim/study/notes/note_makers.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Note> learning_notes_of(const Overrides& set) {
  const Case the_case = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml", set);
  return learning_notes(the_case.job, measure_iteration(the_case, {.threads = 1}).report);
}

auto noted(const std::string& key, const std::string& text, const std::string& figures) {
  return AllOf(testing::Field(&Note::key, key), testing::Field(&Note::text, HasSubstr(text)),
               testing::Field(&Note::figures, figures));
}

TEST(LearningNotes, StepsThatMayTeachLess) {
  EXPECT_THAT(learning_notes_of({}), IsEmpty());
  const Overrides islands = {{"sync", "[{over: node, every: 50 steps, compressor: int4}]"},
                             {"layout.pp", "1"}};
  EXPECT_THAT(learning_notes_of(islands),
              ElementsAre(noted("sync", "may learn less from a token", "node every 50 steps"),
                          noted("compressor", "may teach less", "int4")));
  Overrides counted = islands;
  counted.emplace_back("job.steps", "1000");
  EXPECT_THAT(learning_notes_of(counted), IsEmpty());
}

TEST(LearningNotes, GradientsThatLackReplicas) {
  EXPECT_THAT(
      learning_notes_of({{"redundancy.scheme", "drop-slowest"}, {"cluster.jitter.sigma", "0.1"}}),
      ElementsAre(AllOf(testing::Field(&Note::key, "redundancy"),
                        testing::Field(&Note::figures, HasSubstr("% of it")))));
}

}  // namespace
}  // namespace windtunnel
