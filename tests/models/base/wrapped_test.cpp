#include "models/base/wrapped.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

using Lines = std::vector<std::string>;

TEST(Wrapped, BreaksAtBlanksThenAtMarksThenAnywhere) {
  EXPECT_EQ(wrapped("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("layout.tp=4,layout.pp=8", 13), (Lines{"layout.tp=4,", "layout.pp=8"}));
  EXPECT_EQ(wrapped("abcdef", 4), (Lines{"abcd", "ef"}));
  EXPECT_EQ(wrapped("one two three", 7, 2), (Lines{"one two", "  three"}));
  EXPECT_EQ(wrapped("", 7), Lines{""});
}

TEST(Wrapped, KeepsANumberWithItsUnit) {
  EXPECT_EQ(wrapped("from 7 B to 70 B", 14), (Lines{"from 7 B to", "70 B"}));
  EXPECT_EQ(wrapped("leaves 10.0 %, no less", 11), (Lines{"leaves", "10.0 %, no", "less"}));
  EXPECT_EQ(wrapped("of 10 things", 6), (Lines{"of 10", "things"})) << "no unit";
  EXPECT_EQ(wrapped("10 GiB/s", 4), (Lines{"10", "GiB/", "s"})) << "nowhere else to break";
}

TEST(Wrapped, LinesGoOnBelowWhatStandsBehindTheirLabel) {
  EXPECT_EQ(wrapped_lines("  label  one two three four five six\n  a  b\n", 32),
            "  label  one two three four five\n         six\n  a  b\n");
  EXPECT_EQ(wrapped_lines("  one two three four five", 22), "  one two three four\n    five");
  EXPECT_EQ(wrapped_lines("as long as it is, whatever its length", 0),
            "as long as it is, whatever its length");
  EXPECT_EQ(wrapped_lines("\n\na\n", 30), "\n\na\n");
}

// A shell reads a wrapped command as it reads the unwrapped one.
TEST(Wrapped, CommandsCanStillBeCopied) {
  EXPECT_EQ(wrapped_lines("best: windtunnel run a.yaml --set layout.tp=8 --set 'x=1 h'\n", 50),
            "best: windtunnel run a.yaml --set layout.tp=8 \\\n   --set 'x=1 h'\n");
}

TEST(Wrapped, CountsCharactersAndNotBytes) {
  EXPECT_EQ(width_of("\xC2\xB5s"), 2U);
  EXPECT_EQ(wrapped("\xC2\xB5\xC2\xB5\xC2\xB5", 2), (Lines{"\xC2\xB5\xC2\xB5", "\xC2\xB5"}));
}

}  // namespace
}  // namespace windtunnel
