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
              ElementsAre(noted("sync", "may learn less per token", "node every 50 steps"),
                          noted("compressor", "may learn less per step", "int4")));
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

// The exchanges of one level fit between two of them; those of both levels together do not.
TEST(LateExchanges, ANoteWhereTwoLevelsTogetherHoldUpTheSteps) {
  Job job;
  job.sync = {{.over = "node", .every_steps = 10, .delay_steps = 10},
              {.over = "site", .every_steps = 20, .delay_steps = 20}};
  const auto notes_of = [&](double inner_s, double outer_s) {
    std::vector<SyncSeconds> levels = {{.exchange_s = inner_s}, {.exchange_s = outer_s}};
    fit_on_links(job.sync, levels, 1);
    IterationReport report;
    report.inner_step_s = 1;
    for (const SyncSeconds& level : levels) report.sync.push_back({.seconds = level});
    return late_exchange_notes(job, report);
  };
  EXPECT_THAT(notes_of(4, 10), IsEmpty());
  EXPECT_THAT(notes_of(6, 10),
              ElementsAre(noted("sync", "of all levels run one after the other",
                                "1.00 s of exchanges during each step of 1.00 s")));
  EXPECT_THAT(notes_of(12, 10),
              ElementsAre(testing::Field(
                  &Note::text, HasSubstr("an exchange over node takes 12.0 s on its links"))));
}

}  // namespace
}  // namespace windtunnel
