#include "report/summary/notes.hpp"

#include <gtest/gtest.h>

#include "report/console/console.hpp"
#include "report/json/json.hpp"
#include "report/page/comparison_page.hpp"
#include "report/summary/comparison_columns.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

Comparison two_points() {
  Record record = sample_record();
  record.notes = {{"recovery", "is <short>"}};
  Comparison comparison;
  comparison.points.push_back({{{"pp", "1"}}, record, ""});
  record.notes.push_back({"job.price", "is not used"});
  record.iteration.time_s *= 2;
  comparison.points.push_back({{{"pp", "2"}}, record, ""});
  comparison.points.push_back({{{"pp", "4"}}, std::nullopt, "does not fit"});
  return comparison;
}

TEST(Notes, AComparisonSaysEachOnce) {
  const Comparison comparison = two_points();
  EXPECT_EQ(notes_of(comparison), (std::vector<Note>{{"recovery", "is <short>"},
                                                     {"job.price", "is not used", "at pp=2"}}));
  const std::string text = answer_text(compare_answer(comparison));
  EXPECT_TRUE(
      text.ends_with("Notes\n  recovery     is <short>\n  job.price    is not used: at pp=2\n"))
      << text;
  const std::string page =
      comparison_page(comparison_document(comparison, std::vector<Json>(3), {}));
  EXPECT_NE(page.find("<th scope=\"row\">recovery</th><td>is &lt;short&gt;</td>"),
            std::string::npos);
}

TEST(Notes, PointsThatAreTheSameJobAreNamed) {
  Comparison comparison = two_points();
  for (ComparedPoint& point : comparison.points) {
    if (point.record) point.record->notes.clear();
  }
  EXPECT_TRUE(notes_of(comparison).empty());
  comparison.points.push_back({{{"pp", "null"}}, comparison.points.front().record, ""});
  EXPECT_EQ(
      notes_of(comparison),
      (std::vector<Note>{{"comparison", "these points have the same figures: pp=1; pp=null"}}));
}

TEST(Notes, FiguresThatDifferAreLeftToTheRuns) {
  Comparison comparison = two_points();
  comparison.points[0].record->notes = {{"precision", "is slower", "2 s instead of 1 s"}};
  comparison.points[1].record->notes = {{"precision", "is slower", "2 s instead of 1 s"}};
  ASSERT_EQ(notes_of(comparison).size(), 1u);
  EXPECT_EQ(note_text(notes_of(comparison)[0]), "is slower: 2 s instead of 1 s");
  comparison.points[1].record->notes[0].figures = "4 s instead of 3 s";
  ASSERT_EQ(notes_of(comparison).size(), 1u);
  EXPECT_EQ(note_text(notes_of(comparison)[0]), "is slower: at 2 of 2 points");
  comparison.points[1].record->notes[0].text = "is much slower";
  ASSERT_EQ(notes_of(comparison).size(), 2u);
  EXPECT_EQ(note_text(notes_of(comparison)[1]), "is much slower: 4 s instead of 3 s, at pp=2");
}

TEST(Notes, ARunSaysThemAsWell) {
  const Record record = *two_points().points[1].record;
  const Answer summary = summarise(record);
  EXPECT_EQ(summary.sections.back().title, kNotesTitle);
  ASSERT_EQ(summary.sections.back().rows.size(), 2u);
  EXPECT_EQ(summary.sections.back().rows[1].label, "job.price");
  const Json notes = run_document(record, false).at("notes");
  EXPECT_EQ(notes, Json::parse(R"([{"key": "recovery", "text": "is <short>"},
                                   {"key": "job.price", "text": "is not used"}])"));
  EXPECT_TRUE(run_document(sample_record(), false).at("notes").empty());
}

// If two means differ but the trials cannot tell the points apart, compare must say so.
TEST(Comparison, SaysWhatTrialsDoNotTellApart) {
  const auto chance = [](const std::vector<double>& first, const std::vector<double>& second) {
    Comparison comparison = two_points();
    comparison.points.resize(2);
    const std::vector<double>* trials[] = {&first, &second};
    for (int i = 0; i < 2; ++i) {
      CampaignReport campaign;
      campaign.trials = static_cast<int>(trials[i]->size());
      campaign.trial_goodput = *trials[i];
      for (const double one : *trials[i]) campaign.goodput.mean += one / campaign.trials;
      comparison.points[i].record->campaign = campaign;
    }
    for (const SummaryRow& row : certainty_rows(comparison, "in brackets")) {
      if (row.label == "chance") return row.value;
    }
    return std::string();
  };
  const std::string luck = chance({0.9, 0.8, 0.88, 0.7}, {0.7, 0.85, 0.75, 0.8});
  EXPECT_NE(luck.find("(4.50 points less, "), std::string::npos) << luck;
  EXPECT_NE(luck.find("campaign.replicas"), std::string::npos) << luck;
  EXPECT_EQ(chance({0.9, 0.91, 0.9, 0.91}, {0.8, 0.81, 0.8, 0.81}), "");
  EXPECT_EQ(chance({0.9, 0.8}, {0.9, 0.8}), "");
}

}  // namespace
}  // namespace windtunnel
