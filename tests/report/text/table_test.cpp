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

}  // namespace
}  // namespace windtunnel
