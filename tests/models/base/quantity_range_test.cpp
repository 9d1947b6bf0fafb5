#include "models/base/quantity_range.hpp"

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TEST(QuantityRange, HoldsNumbersBySizeAndNothing) {
  const QuantityRange range{1, 10};
  EXPECT_TRUE(range.holds(0) && range.holds(1) && range.holds(-10));
  EXPECT_FALSE(range.holds(0.5) || range.holds(11) || range.holds(-0.5));
}

// The limits themselves are accepted, as they are printed.
TEST(QuantityRange, EveryDimensionHasOne) {
  for (int i = 0; i <= static_cast<int>(Dimension::iterations); ++i) {
    const auto dimension = static_cast<Dimension>(i);
    const QuantityRange& range = quantity_range(dimension);
    EXPECT_LT(0, range.smallest);
    EXPECT_LT(range.smallest, range.largest);
    for (const double limit : {range.smallest, range.largest}) {
      const std::string text = format_quantity(limit, dimension);
      EXPECT_EQ(error_of([&] { parse_in_range(text, dimension); }), "no error") << text;
    }
    EXPECT_NO_THROW(parse_in_range(example_of(dimension), dimension));
  }
}

TEST(QuantityRange, OutsideIsRefusedWithTheRange) {
  EXPECT_EQ(error_of([] { parse_in_range("0.5 B/s", Dimension::bytes_per_s); }),
            "'0.5 B/s' is outside of the range of a data rate: 0, or 1 B/s to 1000000 TB/s");
  EXPECT_EQ(error_of([] { parse_in_range("1e300 s", Dimension::seconds); }),
            "'1e300 s' is outside of the range of a time: 0.001 ns to 36500 d");
}

}  // namespace
}  // namespace windtunnel
