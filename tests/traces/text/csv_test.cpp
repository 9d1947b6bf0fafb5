#include "traces/text/csv.hpp"

#include <gtest/gtest.h>

#include "models/base/random.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TEST(Csv, ReadsCellsByName) {
  const CsvTable table = CsvTable::parse("name,bytes,time_s\na,8, 0.5 \nb,16,\n", "t.csv");
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_TRUE(table.has("bytes"));
  EXPECT_FALSE(table.has("byte"));
  EXPECT_EQ(table.text(1, table.column("name")), "b");
  EXPECT_EQ(table.integer(1, table.column("bytes")), 16);
  EXPECT_EQ(table.number(0, table.column("time_s")), 0.5);
  EXPECT_EQ(table.optional_number(0, 2), 0.5);
  EXPECT_EQ(table.optional_number(1, 2), std::nullopt);
  EXPECT_EQ(table.id(1), "t.csv:3");
}

TEST(Csv, QuotesCrlfMarkAndBlankLines) {
  const CsvTable table = CsvTable::parse(
      "\xEF\xBB\xBFname,note\r\n\r\n\"a, \"\"b\"\"\",\"two\nlines\"\r\n\"\",x\r\nlast,\"end\"",
      "t.csv");
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.header()[0], "name");
  EXPECT_EQ(table.header()[1], "note");
  EXPECT_EQ(table.text(0, 0), "a, \"b\"");
  EXPECT_EQ(table.text(0, 1), "two\nlines");
  EXPECT_EQ(table.line(0), 3);
  EXPECT_EQ(table.text(1, 0), "");
  EXPECT_EQ(table.line(1), 5);  // after a line break in quotes
  EXPECT_EQ(table.text(2, 1), "end");
}

TEST(Csv, AQuotedEmptyCellIsARow) {
  EXPECT_EQ(CsvTable::parse("a\n\"\"\n\n", "t.csv").rows(), 1U);
}

TEST(Csv, AHeaderAloneIsNoRows) {
  EXPECT_EQ(CsvTable::parse("a,b\n", "t.csv").rows(), 0U);
}

TEST(Csv, ErrorsNameFileAndLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "t.csv:1:1: the file is empty"},
      {"\n\n", "t.csv:1:1: the file is empty"},
      {"a,b\n1,2\n3\n", "t.csv:3:1: the row has 1 cells, but the header has 2"},
      {"a,b\n1,2,3\n", "t.csv:2:1: the row has 3 cells, but the header has 2"},
      {"a,b,a\n", "t.csv:1:3: column 'a' is in the header twice"},
      {"a,b\n1,2\n\"x,2\n", "t.csv:3:1: a quote is not closed"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_EQ(error_of([&, &text = text] { CsvTable::parse(text, "t.csv"); }), error);
  }
  const CsvTable table = CsvTable::parse("bytes,time_s\n8x,nan\n1.5,inf\n,1e999\n", "t.csv");
  EXPECT_EQ(error_of([&] { table.column("byte"); }),
            "t.csv:1:1: column 'byte' is missing; the file has a similar one, 'bytes'");
  EXPECT_EQ(error_of([&] { table.column("node"); }),
            "t.csv:1:1: column 'node' is missing; the file has bytes, time_s");
  EXPECT_EQ(error_of([&] { table.number(0, 0); }),
            "t.csv:2:1: column 'bytes' holds '8x', not a number");
  EXPECT_EQ(error_of([&] { table.number(0, 1); }),
            "t.csv:2:2: column 'time_s' holds 'nan', not a number");
  EXPECT_EQ(error_of([&] { table.integer(1, 0); }),
            "t.csv:3:1: column 'bytes' holds '1.5', not a whole number");
  EXPECT_EQ(error_of([&] { table.number(2, 0); }),
            "t.csv:4:1: column 'bytes' holds '', not a number");
  EXPECT_NE(error_of([&] { table.number(1, 1); }), "no error");
  EXPECT_NE(error_of([&] { table.optional_number(2, 1); }), "no error");
}

// Any bytes are either a table in which all rows are as wide as the header, or an Error.
TEST(Csv, HostileBytes) {
  constexpr std::string_view kAlphabet = "a1,\"\n\r .";
  for (int index = 0; index < 5000; ++index) {
    RandomStream random(1, RandomPurpose::test, index);
    std::string text;
    for (auto length = random.below(40); length > 0; --length) {
      text += kAlphabet[random.below(kAlphabet.size())];
    }
    try {
      const CsvTable table = CsvTable::parse(text, "t.csv");
      for (size_t row = 0; row < table.rows(); ++row) {
        EXPECT_NO_THROW(table.text(row, table.header().size() - 1));
        EXPECT_GT(table.line(row), 1);
      }
    } catch (const Error&) {
    }
  }
}

TEST(Csv, UnreadableFiles) {
  EXPECT_EQ(error_of([] { CsvTable::read("no/such.csv"); }),
            "no/such.csv: cannot be read: No such file or directory");
  EXPECT_EQ(error_of([] { CsvTable::read("/"); }), "/: is a folder; expected a file");
}

}  // namespace
}  // namespace windtunnel
