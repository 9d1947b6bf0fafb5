#include "report/schedule/schedule_report.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "policies/schedules/schedules.hpp"
#include "report/console/console.hpp"

namespace windtunnel {
namespace {

struct Sample {
  Schedule schedule;
  std::vector<StageCost> costs;
  AnalysisOptions options;
  ScheduleAnalysis analysis;
  std::vector<std::string> notes = {"a note"};

  ScheduleReport report(bool units = false) const {
    return {.title = "the title",
            .notes = notes,
            .schedule = schedule,
            .analysis = analysis,
            .options = options,
            .sends = Sends::asynchronous,
            .in_seconds = units,
            .in_bytes = units};
  }
};

Sample sample_of(std::string_view name, int ranks, int microbatches, int chunks, StageCost cost,
                 double message_s) {
  Sample sample;
  sample.schedule = generate_schedule(name, ranks, microbatches, chunks);
  sample.costs.assign(sample.schedule.model_stages(), cost);
  sample.options.sensitivity.draws = 5;
  sample.analysis =
      analyse_schedule(sample.schedule, sample.costs, {{{message_s}, {message_s}}}, sample.options);
  return sample;
}

std::string gantt(const Sample& sample, int width) {
  return schedule_gantt(sample.schedule, sample.analysis.spans, width);
}

// The chart is a small version of figure 4 of arXiv 2104.04473.
TEST(ScheduleGantt, LooksAsInThePapers) {
  const Sample sample = sample_of("1f1b", 2, 3, 1, {1, 1, 1, 1, 0.5}, 0);
  EXPECT_EQ(gantt(sample, 26),
            "0 F0F1....B0  F2B1  ..B2  \n"
            "1 ..F0B0  F1B1  F2B2  ....\n"
            ". idle, F forward, B backward\n");
}

TEST(ScheduleGantt, WiderActionsShowMoreDigits) {
  const Sample sample = sample_of("1f1b", 1, 11, 1, {1, 0.5, 0.5, 1, 0.5}, 0);
  EXPECT_NE(gantt(sample, 2 + 22 * 3).find("F10B10"), std::string::npos);
  EXPECT_NE(gantt(sample, 2 + 22 * 2).find("F9B9F0B0"), std::string::npos);
  EXPECT_NE(gantt(sample, 2 + 22).find(" FBFBFB"), std::string::npos);
}

TEST(ScheduleGantt, NamesChunksAndPairs) {
  const std::string text = gantt(sample_of("dualpipev", 2, 6, 2, {1, 1, 1, 1, 0.5}, 0), 200);
  EXPECT_NE(text.find("f0"), std::string::npos);
  EXPECT_NE(text.find('&'), std::string::npos);
  EXPECT_NE(text.find("lower case: a rank's later chunks"), std::string::npos);
}

TEST(ScheduleGantt, NoRowIsWiderThanAsked) {
  const Sample sample = sample_of("1f1b", 12, 40, 1, {1, 1.3, 0.7, 1, 0.5}, 0.1);
  for (const int width : {1, 5, 20, 80, 333, 2000}) {
    std::istringstream rows(gantt(sample, width));
    std::string row;
    for (int rank = 0; rank < 12; ++rank) {
      ASSERT_TRUE(std::getline(rows, row));
      EXPECT_LE(row.size(), std::max<size_t>(width, 4)) << row;
      EXPECT_EQ(std::stoi(row), rank);
    }
  }
}

TEST(ScheduleGantt, ColoursEndWithTheRow) {
  const Sample sample = sample_of("gpipe", 2, 2, 1, {1, 1, 1, 1, 0.5}, 0);
  std::istringstream rows(
      schedule_gantt(sample.schedule, sample.analysis.spans, 80, {.colour = true}));
  std::string row;
  for (int rank = 0; rank < 2; ++rank) {
    std::getline(rows, row);
    EXPECT_NE(row.find("\x1b[30;104mF0"), std::string::npos);
    const size_t last = row.rfind('\x1b');
    EXPECT_EQ(row.substr(last, 4), "\x1b[0m");
  }
}

// Returns the report as the console prints it in lines of that width.
std::string text_of(const Sample& sample, std::size_t width, bool units = false) {
  const ScheduleReport report = sample.report(units);
  return answer_text(schedule_answer(report, {.width = width}), {.width = width});
}

TEST(ScheduleText, SaysWhatIsKnown) {
  const Sample sample = sample_of("1f1b", 4, 8, 1, {1, 1, 1, 1, 0.5}, 0.1);
  const std::string text = text_of(sample, 120);
  // 1f1b takes (m + p - 1) T = 33, and 0.1 for each of 2 (p - 1) messages down and up and of 2 in
  // each of the m - p + 1 = 5 steady rounds.
  for (const char* part :
       {"the title\na note; times have no unit", "34.6  (all ranks wait for each other at its end)",
        "makespan - work of the busiest rank (GPipe, Megatron)", "     0     4  0F3",
        "Time of each rank, % of the step", "0F0 > 1F0 > 2F0 > 3F0..3B0", "have no slack",
        "one rank 10.0 % slower", "jitter of 5.0 % per action", "post-validation"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  // Columns that are zero throughout are left out.
  EXPECT_EQ(text.find("recompute"), std::string::npos);
  EXPECT_NE(text_of(sample, 80, true).find("34.6 s  (all"), std::string::npos);
}

TEST(ScheduleText, NarrowTerminalsLoseTheBarsFirst) {
  const Sample sample = sample_of("1f1b", 4, 8, 1, {1, 1, 1, 1, 0.5}, 0);
  EXPECT_NE(text_of(sample, 80).find("####"), std::string::npos);
  EXPECT_EQ(text_of(sample, 24).find("####"), std::string::npos);
}

TEST(ScheduleDocument, HoldsEveryFigure) {
  const Sample sample = sample_of("zb-h1", 4, 8, 1, {1, 1.2, 0.8, 1, 0.5}, 0.1);
  const Json document = schedule_document(sample.report());
  EXPECT_EQ(document["schedule"]["name"], "zb-h1");
  EXPECT_TRUE(document["units"]["time"].is_null());
  EXPECT_EQ(schedule_document(sample.report(true))["units"]["time"], "s");
  const double step_s = document["step_s"];
  ASSERT_EQ(document["ranks"].size(), 4u);
  for (const Json& rank : document["ranks"]) {
    double sum_s = 0;
    for (const auto& [use, seconds] : rank["time_s"].items()) sum_s += seconds.get<double>();
    EXPECT_NEAR(sum_s, step_s, 1e-9 * step_s);
    EXPECT_EQ(rank["actions"].size(), 24u);
    // The peak is a point of the timeline.
    bool found = false;
    for (const Json& point : rank["activations"]) {
      found |= point[0] == rank["peak_at_s"] && point[1] == rank["peak_activation"];
    }
    EXPECT_TRUE(found);
  }
  EXPECT_EQ(document["ranks"][0]["peak_action"], "0F3");
  EXPECT_EQ(document["bubble"]["makespan"]["bubble_s"], sample.analysis.bubbles[0].bubble_s);
  const Json& last = document["critical_path"]["steps"].back();
  EXPECT_NEAR(last["end_s"].get<double>(), step_s, 1e-9 * step_s);
  EXPECT_EQ(document["sensitivity"]["slow_rank"]["growth_s"].size(), 4u);
  EXPECT_EQ(document["sensitivity"]["what_if"].size(), 4u);
}

TEST(ScheduleDocument, TheSameInputGivesTheSameBytes) {
  const Sample one = sample_of("1f1b", 3, 7, 1, {1, 1, 1, 1, 0.5}, 0.1);
  const Sample other = sample_of("1f1b", 3, 7, 1, {1, 1, 1, 1, 0.5}, 0.1);
  EXPECT_EQ(schedule_document(one.report()).dump(), schedule_document(other.report()).dump());
}

}  // namespace
}  // namespace windtunnel
