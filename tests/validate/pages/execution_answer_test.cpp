#include "validate/pages/execution_answer.hpp"

#include <gtest/gtest.h>

#include "report/answer/command_answers.hpp"
#include "tests/report/answer/page_record.hpp"
#include "tests/report/browser.hpp"

namespace windtunnel {
namespace {

Timeline one_task(double end_s) {
  Timeline timeline;
  timeline.ranks.push_back({0, 0, 1, {{0, end_s}}});
  timeline.recorded_as = {0};
  timeline.makespan_s = end_s;
  timeline.iteration_end_s = {end_s};
  return timeline;
}

std::string page_of(const ExecutionAnswerOptions& options = {}) {
  ExecutedPlan executed;
  executed.scenario = "a <scenario>";
  executed.plan.ranks = 1;
  RankClass rank_class;
  rank_class.members = {0};
  rank_class.streams = {{"compute"}};
  rank_class.tasks.emplace_back();
  rank_class.tasks[0].name = "F0.0";
  executed.plan.classes = {rank_class};
  Executions executions;
  executions.predicted = one_task(1);
  for (const double end_s : {4.0, 2.0, 1.5}) executions.measured.push_back(one_task(end_s));
  const ExecutionComparison comparison =
      compare_execution(executed, executions.predicted, executions.measured);
  return answer_page(execution_answer(executed, executions, comparison, options));
}

// The execution of median length is drawn below the prediction, stream by stream.
TEST(ExecutionAnswer, DrawsWhatRanBelowWhatWasPredicted) {
  const Json gantt = page_record(page_of()).at("charts").at(0).at("gantt");
  EXPECT_DOUBLE_EQ(gantt.at("makespan_s"), 2);
  const Json& tracks = gantt.at("tracks");
  ASSERT_EQ(tracks.size(), 2U);
  EXPECT_EQ(tracks[0].at("stream"), "compute, predicted");
  EXPECT_EQ(tracks[0].at("duration_ns").at(0), 1'000'000'000);
  EXPECT_EQ(tracks[1].at("stream"), "compute, executed");
  EXPECT_EQ(tracks[1].at("duration_ns").at(0), 2'000'000'000);
  EXPECT_EQ(tracks[1].at("name").at(0), "F0.0, -50.0 % off");
}

TEST(ExecutionAnswer, SaysWhatItLeavesOut) {
  const std::string page = page_of({.max_spans = 1});
  EXPECT_EQ(page_record(page).at("charts").at(0).at("gantt").at("ranks_left_out"), 1);
  for (const char* text : {"a &lt;scenario&gt;", "-50.0 %", "compute, mean of a rank"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
}

class ExecutionAnswerBrowser : public Browser {};

TEST_F(ExecutionAnswerBrowser, FitsEveryScreen) {
  expect_fits(page_of());
}

}  // namespace
}  // namespace windtunnel
