#include "report/text/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// "µs" is two characters of three bytes.
TEST(Table, ColumnsAreAlignedByCharacters) {
  const TextTable table{{{"key"}, {"time", Align::right}, {"note"}},
                        {{"a", "10 µs", ""}, {"longer", "1 s", "x"}}};
  EXPECT_EQ(table_text(table),
            "key      time  note\n"
            "a       10 µs\n"
            "longer    1 s  x\n");
  EXPECT_THROW(table_text({{{"a"}, {"b"}, {"c"}}, {{"1", "2"}}}), InternalError);
}

TEST(Table, TitlesStateTheAlignmentOfTheirColumns) {
  const TextTable table = titled_table("key ~8 | time > |  | 90 % ~4 >");
  ASSERT_EQ(table.columns.size(), 4u);
  EXPECT_EQ(table.columns[0].title, "key");
  EXPECT_EQ(table.columns[0].most, 8u);
  EXPECT_EQ(table.columns[1].title, "time");
  EXPECT_EQ(table.columns[1].align, Align::right);
  EXPECT_EQ(table.columns[2].title, "");
  EXPECT_EQ(table.columns[2].align, Align::left);
  EXPECT_EQ(table.columns[3].title, "90 %");
  EXPECT_EQ(table.columns[3].align, Align::right);
  EXPECT_TRUE(table.rows.empty());
}

// A full-width line sets no column's width and is not cut into groups of columns.
TEST(Table, LinesStandBetweenRows) {
  const TextTable table{
      {{"family"}, {"blind rows", Align::right, "blind"}, {.title = "what", .most = 5}},
      {{"a family with a long name"}, {"  step", "12", "a long word"}, {"  layouts of 3 jobs"}}};
  const std::string text =
      "family  blind  what\n"
      "a family with a long name\n"
      "  step     12  a l…d\n"
      "  layouts of 3 jobs\n";
  EXPECT_EQ(table_text(table), text);
  EXPECT_EQ(table_text(table, 10), text);
}

// A cell may come from a file, and a terminal would obey its control characters.
TEST(Table, ControlCharactersAreShown) {
  const TextTable table{{{"machine"}, {"ratio"}}, {{"a\x1b[2J\nb", "1.0"}, {"node", "0.9"}}};
  EXPECT_EQ(table_text(table),
            "machine        ratio\n"
            "a\\x1b[2J\\x0ab  1.0\n"
            "node           0.9\n");
}

TEST(Table, WordsAreWrappedInsideOfTheirColumn) {
  const TextTable table{{{"name"}, {"seconds", Align::right}, {"what it is"}},
                        {{"first", "1234567.5", "warm nodes take the places of lost ones"},
                         {"second", "1", "short"}}};
  EXPECT_EQ(table_text(table, 40),
            "name      seconds  what it is\n"
            "first   1234567.5  warm nodes take the\n"
            "                     places of lost ones\n"
            "second          1  short\n");
  EXPECT_EQ(table_text(table, 62), table_text(table)) << "it fits";
}

// A key is read and typed as a whole, so that it is not broken.
TEST(Table, KeysAreNotCutWhileOtherColumnsCanStandBelow) {
  const TextTable table{
      {{"failures.0.rate"}, {"time to train", Align::right}, {"goodput", Align::right}},
      {{"3.24 per 1000 node-days", "81.1 d", "85.9 %"}}};
  EXPECT_EQ(table_text(table, 31),
            "failures.0.rate   time to train\n"
            "3.24 per 1000            81.1 d\n"
            "node-days\n"
            "\n"
            "failures.0.rate         goodput\n"
            "3.24 per 1000            85.9 %\n"
            "  node-days\n");
}

TEST(Table, TooManyColumnsStandBelowEachOther) {
  const TextTable table{{{"layout"},
                         {"step time", Align::right},
                         {"utilisation", Align::right},
                         {"peak", Align::right}},
                        {{"tp 8", "12.50 s", "41.2 %", "71.3 GiB"}}};
  EXPECT_EQ(table_text(table, 30),
            "layout  step time  utilisation\n"
            "tp 8      12.50 s       41.2 %\n"
            "\n"
            "layout      peak\n"
            "tp 8    71.3 GiB\n");
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

// At any width no line of a table is longer, and no text is lost.
TEST(Table, FitsAnyWidth) {
  std::mt19937 random(7);
  const auto below = [&](unsigned most) { return static_cast<int>(random() % most); };
  for (int draw = 0; draw < 400; ++draw) {
    TextTable table;
    const int columns = 1 + below(8), rows = below(4);
    const auto cell = [&](bool words) {
      std::string text;
      for (int i = words ? below(60) : 1 + below(8); i > 0; --i) {
        text += words && below(6) == 0 ? " " : below(9) == 0 ? "µ" : "x";
      }
      return text;
    };
    for (int i = 0; i < columns; ++i) {
      table.columns.push_back({cell(true), below(2) == 0 ? Align::left : Align::right});
    }
    size_t characters = 0;
    for (int row = 0; row < rows; ++row) {
      table.rows.emplace_back();
      for (const Column& column : table.columns) {
        table.rows.back().push_back(cell(column.align == Align::left));
        characters += without_blanks(table.rows.back().back()).size();
      }
    }
    const size_t width = static_cast<size_t>(24 + below(120));
    const std::string text = table_text(table, width);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto length = std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(static_cast<size_t>(length), width) << text;
    }
    for (const Column& column : table.columns) characters += without_blanks(column.title).size();
    EXPECT_GE(without_blanks(text).size(), characters) << "the first column may be there again";
  }
}

}  // namespace
}  // namespace windtunnel
