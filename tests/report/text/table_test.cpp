#include "report/text/table.hpp"

#include <gtest/gtest.h>

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
  EXPECT_THROW(table_text({{{"a"}, {"b"}}, {{"1"}}}), InternalError);
}

// A cell may come from a file, and a terminal obeys what it is shown.
TEST(Table, ControlCharactersAreShown) {
  const TextTable table{{{"machine"}, {"ratio"}}, {{"a\x1b[2J\nb", "1.0"}, {"node", "0.9"}}};
  EXPECT_EQ(table_text(table),
            "machine        ratio\n"
            "a\\x1b[2J\\x0ab  1.0\n"
            "node           0.9\n");
}

}  // namespace
}  // namespace windtunnel
