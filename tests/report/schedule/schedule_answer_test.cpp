#include <gtest/gtest.h>

#include "policies/schedules/schedules.hpp"
#include "report/answer/command_answers.hpp"
#include "report/schedule/schedule_report.hpp"
#include "tests/report/answer/page_record.hpp"
#include "tests/report/browser.hpp"

namespace windtunnel {
namespace {

struct AnalysedSchedule {
  Schedule schedule;
  AnalysisOptions options;
  ScheduleAnalysis analysis;

  std::string page(const ScheduleAnswerOptions& page_options = {}) const {
    const ScheduleReport report{.title = "a <schedule>",
                                .notes = {"what was assumed"},
                                .schedule = schedule,
                                .analysis = analysis,
                                .options = options,
                                .sends = Sends::asynchronous};
    return answer_page(schedule_answer(report, page_options));
  }
};

AnalysedSchedule analysed(std::string_view name, int ranks, int microbatches, int chunks = 1) {
  AnalysedSchedule made;
  made.schedule = generate_schedule(name, ranks, microbatches, chunks);
  made.options.sensitivity.draws = 2;
  const std::vector<StageCost> costs(made.schedule.model_stages(), {1, 1, 1, 1, 0.5});
  made.analysis = analyse_schedule(made.schedule, costs, {{{0}, {0}}}, made.options);
  return made;
}

// Without messages 1F1B takes (m + p - 1) (F + I + W). Each action is drawn once, at its place.
TEST(ScheduleAnswer, DrawsEveryActionInItsPlace) {
  const AnalysedSchedule made = analysed("1f1b", 3, 5);
  const Json chart = page_record(made.page()).at("charts").at(0);
  const Json& gantt = chart.at("gantt");
  EXPECT_DOUBLE_EQ(gantt.at("makespan_s"), (5 + 3 - 1) * 3.0);
  ASSERT_EQ(gantt.at("tracks").size(), 3U);
  for (const Json& track : gantt.at("tracks")) {
    ASSERT_EQ(track.at("name").size(), 10U);
    std::int64_t busy_ns = 0, until_ns = 0;
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_GE(track.at("start_ns")[i], until_ns);
      until_ns = track.at("start_ns")[i].get<std::int64_t>() +
                 track.at("duration_ns")[i].get<std::int64_t>();
      busy_ns += track.at("duration_ns")[i].get<std::int64_t>();
    }
    EXPECT_EQ(busy_ns, 15'000'000'000);
    EXPECT_FALSE(track.at("critical").empty());
  }
  // A rank of 1F1B holds as many micro-batches as there are ranks from it to the last one.
  const Json& curves = chart.at("curves").at("ranks");
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(curves.at(rank).at("peak").at("bytes"), 3 - rank);
}

TEST(ScheduleAnswer, TwoThatRunAsOneAreDrawnAsOne) {
  const AnalysedSchedule made = analysed("dualpipev", 2, 6, 2);
  int pairs = 0;
  const Json record = page_record(made.page());
  for (const Json& track : record.at("charts").at(0).at("gantt").at("tracks")) {
    for (const Json& name : track.at("name")) {
      pairs += name.get<std::string>().find('&') != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(pairs, 0);
}

TEST(ScheduleAnswer, SaysWhatItLeavesOut) {
  const AnalysedSchedule made = analysed("zb-h1", 4, 8);
  const Json cut = page_record(made.page({.max_spans = 30})).at("charts").at(0).at("gantt");
  EXPECT_EQ(cut.at("tracks").size(), 1U);
  EXPECT_EQ(cut.at("ranks_left_out"), 3);
}

class ScheduleAnswerBrowser : public Browser {};

TEST_F(ScheduleAnswerBrowser, FitsEveryScreen) {
  expect_fits(analysed("zb-h1", 4, 8).page());
}

// Times in a unit of the user's choice are printed without one.
TEST_F(ScheduleAnswerBrowser, PlainTimesAreWrittenWithoutAUnit) {
  const std::string output = ready_dom(analysed("zb-h1", 4, 8).page(), R"(
    const chart = document.querySelector("[role=img]").getAttribute("aria-label");
    document.body.dataset.words = chart;
  )");
  EXPECT_NE(output.find("data-words=\"One iteration. 96 tasks of 4 ranks in 27"), std::string::npos)
      << output.substr(output.find("data-words"), 200);
  EXPECT_EQ(output.find("in 27.0 s"), std::string::npos);
}

}  // namespace
}  // namespace windtunnel
