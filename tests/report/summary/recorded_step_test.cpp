// Tests the explanation that is printed for a trace that does not end at the step time.
#include <gtest/gtest.h>

#include "report/summary/summary.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

Record recorded(double recorded_s, double time_s) {
  Record record = sample_record();
  record.iteration.recorded_s = recorded_s;
  record.iteration.time_s = time_s;
  return record;
}

TEST(RecordedStep, TheStepItselfNeedsNoWord) {
  const RecordedStep step = recorded_step(recorded(11, 11));
  EXPECT_EQ(step.label, "");
  EXPECT_EQ(step.sentence, "");
}

TEST(RecordedStep, NamesTheDraw) {
  Record record = recorded(17.02, 11.1);
  record.job.cluster.jitter.draws = 8;
  record.iteration.drawn_s = Estimate{11.1, 10, 12, 9, 17};
  record.iteration.draw = 2;
  const RecordedStep step = recorded_step(record);
  EXPECT_EQ(step.label, "draw 3 of 8");
  EXPECT_EQ(step.sentence, "it is draw 3 of 8, whose step takes 17.0 s; the mean is 11.1 s");
}

TEST(RecordedStep, NamesTheIterationsOfThePeriod) {
  Record record = recorded(18.3, 18.3);
  record.plan.iterations = 4;
  record.timeline.makespan_s = 73.4;
  record.job.layout.pp = 2;
  const RecordedStep step = recorded_step(record);
  EXPECT_EQ(step.label, "4 iterations");
  EXPECT_EQ(step.sentence,
            "it shows 4 iterations, which end at 73.4 s; the step of 18.3 s is iteration 3, from "
            "the end of iteration 2 to that of 3");
}

TEST(RecordedStep, NamesWhatComesOnTop) {
  Record record = recorded(10, 12);
  record.iteration.stragglers.emplace();
  record.iteration.sync.emplace_back();
  const RecordedStep step = recorded_step(record);
  EXPECT_EQ(step.label, "without stragglers and exchanges between islands");
  EXPECT_EQ(step.sentence,
            "it is a step without stragglers and exchanges between islands, which takes 10.0 s; "
            "with them the mean is 12.0 s");
}

}  // namespace
}  // namespace windtunnel
