#include "traces/rows/row_fields.hpp"

#include <gtest/gtest.h>

#include <array>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

struct Inner {
  double watts = 0;
};
struct Toy {
  std::string id, name, colour = "red";
  size_t table_row = 0;
  int count = 7;
  std::optional<int> more;
  double seconds = 0;
  std::optional<double> share;
  std::optional<bool> on;
  Inner inner;
  std::string upper;
};

constexpr auto kColours = std::to_array<std::string_view>({"red", "green"});
constexpr auto kToyFields = std::to_array<RowField<Toy>>({
    {"name", &Toy::name, Needs::cell},
    {"colour", &Toy::colour, Needs::nothing, "", 0, {}, 1, kColours},
    {"count", &Toy::count, Needs::column, "", 100},
    {"more", &Toy::more, {}, "", 100},
    {"time_ms", &Toy::seconds, {}, "milliseconds", 1e6, {}, 1e-3},
    {"share", &Toy::share, {}, "a share", 1, true},
    {"on", &Toy::on},
    {"W", [](Toy& toy) -> double& { return toy.inner.watts; }, {}, "W", 1e4},
    {"upper", [](Toy& toy, RowReader& reader) { toy.upper = reader.text("upper") + "!"; }},
});

RowFile<Toy> parsed_toys(const std::string& text) {
  return parse_fields<Toy>(text, "toys.csv", kToyFields);
}

TEST(RowFields, FillTheirMembers) {
  const RowFile<Toy> file = parsed_toys(
      "name,colour,count,more,time_ms,share,on,W,upper\na,green,3,4,250,0,1,700,up\nb,,,,,,,,\n");
  ASSERT_EQ(file.runs.size(), 2u) << file.unusable.at(0).reason;
  const Toy& full = file.runs[0];
  EXPECT_EQ(full.id, "toys.csv:2");
  EXPECT_EQ(full.table_row, 0u);
  EXPECT_EQ(full.colour, "green");
  EXPECT_EQ(full.count, 3);
  EXPECT_EQ(full.more, 4);
  EXPECT_DOUBLE_EQ(full.seconds, 0.25);
  EXPECT_EQ(full.share, 0);
  EXPECT_EQ(full.on, true);
  EXPECT_EQ(full.inner.watts, 700);
  EXPECT_EQ(full.upper, "up!");
  // An empty cell leaves its member unchanged; a text member becomes the cell's text.
  const Toy& empty = file.runs[1];
  EXPECT_EQ(empty.count, 7);
  EXPECT_EQ(empty.more, std::nullopt);
  EXPECT_EQ(empty.share, std::nullopt);
  EXPECT_EQ(empty.seconds, 0);
}

TEST(RowFields, TellAllFaultsOfARowAndReadTheNext) {
  const RowFile<Toy> file =
      parsed_toys("name,colour,count,share,on\n,gren,101,1.5,maybe\nb,red,2.5,-1,\nc,red,1,,0\n");
  ASSERT_EQ(file.runs.size(), 1u);
  ASSERT_EQ(file.unusable.size(), 2u);
  EXPECT_EQ(file.unusable[0].id, "toys.csv:2:1");
  EXPECT_EQ(file.unusable[0].reason,
            "column 'name': is empty; column 'colour': 'gren' is none of red, green; did you mean "
            "'green'?; column 'count': 101 is more than 100; column 'share': 1.5 is more than 1 (a "
            "share); column 'on': 'maybe' is neither 1 (or true) nor 0 (or false)");
  EXPECT_EQ(file.unusable[1].id, "toys.csv:3:3");
  EXPECT_EQ(file.unusable[1].reason,
            "column 'count': 2.5 is not a whole number; column 'share': -1 is less than 0");
}

TEST(RowFields, ColumnsThatAreNeededMustBeThere) {
  EXPECT_NO_THROW(parsed_toys("name,count\n"));
  EXPECT_THROW(parsed_toys("name,more\n"), Error);
  EXPECT_THROW(parsed_toys("count\n"), Error);
}

TEST(RowFields, LookAtTheCellsOfARowTogether) {
  const RowFile<Toy> file = parse_fields<Toy>("name,count\na,1\nb,2\n", "toys.csv", kToyFields,
                                              [](const Toy& toy, RowReader& reader) {
                                                if (toy.name == "b" && toy.count == 2)
                                                  reader.fault("count", "is not b's");
                                              });
  EXPECT_EQ(file.runs.size(), 1u);
  EXPECT_EQ(file.unusable.at(0).reason, "column 'count': is not b's");
}

}  // namespace
}  // namespace windtunnel
