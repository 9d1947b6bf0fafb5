#include "validate/accuracy/rows/row_selection.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

struct Row {
  std::string id;
  std::size_t table_row = 0;
};
struct File {
  CsvTable table;
  std::vector<Row> runs;
  std::vector<UnusableRow> unusable;
};

// Returns rows with 1, 2, ... in column n; the last one cannot be used, and one line is no row.
File file_of(const std::string& name, int rows) {
  std::string text = "n\n";
  for (int n = 1; n <= rows; ++n) text += std::to_string(n) + "\n";
  File file{CsvTable::parse(text, name), {}, {}};
  const auto last = static_cast<std::size_t>(rows - 1);
  for (std::size_t at = 0; at < last; ++at) file.runs.push_back({file.table.id(at), at});
  file.unusable = {{file.table.id(last), "bad", last}, {name + ":99", "no row", std::nullopt}};
  return file;
}

// Returns "a.csv:2 fit, ...", followed by the rows that are skipped.
std::string selected(const std::vector<File>& files, const RowChoice<File>& choice) {
  std::vector<SkippedRow> skipped;
  std::string text;
  for (const auto& row : select_rows(files, choice, skipped)) {
    text += row.run->id + (row.fit ? " fit" : "") + (row.judged ? " judged" : "") + ", ";
  }
  text += "skipped";
  for (const SkippedRow& row : skipped) text += " " + row.id;
  return text;
}

RowFilter filter(const char* text) {
  return RowFilter::parse(text);
}

TEST(RowSelection, WithoutFiltersAllRowsAreJudged) {
  EXPECT_EQ(selected({file_of("a", 3)}, {}), "a:2 judged, a:3 judged, skipped a:4 a:99");
}

TEST(RowSelection, AFilterAppliesToRowsThatCannotBeUsedToo) {
  EXPECT_EQ(selected({file_of("a", 3)}, {.where = filter("n<2")}), "a:2 judged, skipped a:99");
  EXPECT_EQ(selected({file_of("a", 3)}, {.where = filter("n<2"), .fit_where = filter("n>1")}),
            "a:2 judged, a:3 fit, skipped a:4 a:99");
}

// The caller decides whether a row that is fitted on is also judged.
TEST(RowSelection, ARowMayBeBoth) {
  EXPECT_EQ(selected({file_of("a", 2)}, {.fit_where = filter("n==1")}),
            "a:2 fit judged, skipped a:3 a:99");
}

TEST(RowSelection, AFileThatIsNamedForBothIsFittedOnAndListedOnce) {
  const std::vector<File> files = {file_of("a", 3), file_of("b", 2)};
  const std::vector<File> calibrate_on = {file_of("a", 3), file_of("a", 3)};
  EXPECT_EQ(selected(files, {.calibrate_on = calibrate_on}),
            "a:2 fit, a:3 fit, b:2 judged, skipped a:4 a:99 b:3 b:99");
  // Rows of this file that are not fitted on are judged; with `all` they are selected, but not
  // judged.
  EXPECT_EQ(selected(files, {.fit_where = filter("n==1"), .calibrate_on = calibrate_on}),
            "a:2 fit, a:3 judged, b:2 judged, skipped a:99 a:4 b:3 b:99");
  EXPECT_EQ(
      selected(files, {.fit_where = filter("n==1"), .calibrate_on = calibrate_on, .all = true}),
      "a:2 fit, a:3, b:2 judged, skipped a:99 a:4 b:3 b:99");
}

TEST(RowSelection, AFilterHasToFitTheTable) {
  EXPECT_THROW(selected({file_of("a", 2)}, {.where = filter("m==1")}), Error);
  EXPECT_THROW(selected({file_of("a", 2)}, {.fit_where = filter("m==1")}), Error);
}

}  // namespace
}  // namespace windtunnel
