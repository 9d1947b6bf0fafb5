#include "models/base/units.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

std::string message_of(std::string_view text, Dimension dimension) {
  return error_of([&] { parse_quantity(text, dimension); });
}

TEST(Units, EveryDimensionIsRead) {
  EXPECT_DOUBLE_EQ(parse_quantity("0.5", Dimension::number), 0.5);
  EXPECT_DOUBLE_EQ(parse_quantity("-2e3", Dimension::number), -2000);
  EXPECT_DOUBLE_EQ(parse_quantity("2048", Dimension::count), 2048);
  EXPECT_DOUBLE_EQ(parse_quantity("15.6 T", Dimension::count), 15.6e12);
  EXPECT_DOUBLE_EQ(parse_quantity("25M", Dimension::count), 25e6);
  EXPECT_DOUBLE_EQ(parse_quantity("405 B", Dimension::count), 405e9);
  EXPECT_DOUBLE_EQ(parse_quantity("405 G", Dimension::count), 405e9);
  EXPECT_DOUBLE_EQ(parse_quantity("25 MB", Dimension::bytes), 25e6);
  EXPECT_DOUBLE_EQ(parse_quantity("25 MiB", Dimension::bytes), 25.0 * 1048576);
  EXPECT_DOUBLE_EQ(parse_quantity("2 TB/s", Dimension::bytes_per_s), 2e12);
  EXPECT_DOUBLE_EQ(parse_quantity("400 Gb/s", Dimension::bytes_per_s), 50e9);
  EXPECT_DOUBLE_EQ(parse_quantity("989.4 TFLOP/s", Dimension::flops_per_s), 989.4e12);
  EXPECT_DOUBLE_EQ(parse_quantity("3 us", Dimension::seconds), 3e-6);
  EXPECT_DOUBLE_EQ(parse_quantity("3 µs", Dimension::seconds), 3e-6);
  EXPECT_DOUBLE_EQ(parse_quantity(" 5  min ", Dimension::seconds), 300);
  EXPECT_DOUBLE_EQ(parse_quantity("54 d", Dimension::seconds), 54.0 * 86400);
  EXPECT_DOUBLE_EQ(parse_quantity("3.24 per 1000 node-days", Dimension::per_node_s),
                   3.24e-3 / 86400);
  EXPECT_DOUBLE_EQ(parse_quantity("1 per node-hour", Dimension::per_node_s), 1 / 3600.0);
  EXPECT_DOUBLE_EQ(parse_quantity("0.5 per day", Dimension::per_s), 0.5 / 86400);
  EXPECT_DOUBLE_EQ(parse_quantity("2 per hour", Dimension::per_s), 2 / 3600.0);
  EXPECT_DOUBLE_EQ(parse_quantity("2 USD per gpu-hour", Dimension::usd_per_gpu_s), 2 / 3600.0);
  EXPECT_DOUBLE_EQ(parse_quantity("10 iterations", Dimension::iterations), 10);
  EXPECT_DOUBLE_EQ(parse_quantity("1 iteration", Dimension::iterations), 1);
}

// Equal quantities must be equal to the last bit, because results and the identity of a case depend
// on them.
TEST(Units, EqualQuantitiesAreTheSameNumber) {
  const auto same = [](Dimension dimension, std::string_view a, std::string_view b) {
    EXPECT_EQ(parse_quantity(a, dimension), parse_quantity(b, dimension)) << a << " and " << b;
  };
  for (int tenths = 1; tenths < 1000; ++tenths) {
    const std::string thousand = fmt::format("{}.{}", tenths / 10, tenths % 10);
    same(Dimension::per_node_s, thousand + " per 1000 node-days",
         fmt::format("0.{:06} per node-day", tenths * 100));
    same(Dimension::per_node_s, thousand + " per 1000 node-days", thousand + "e-3 per node-day");
    same(Dimension::per_node_s, fmt::format("{} per node-day", tenths),
         fmt::format("{} per node-year", tenths * 365.25));
    same(Dimension::seconds, fmt::format("0.{:03} h", tenths), fmt::format("{} ms", tenths * 3600));
    same(Dimension::bytes_per_s, fmt::format("0.{:03} Gb/s", tenths),
         fmt::format("{} kB/s", tenths * 125));
    // The value is the one to which the compiler rounds the literal.
    EXPECT_EQ(parse_quantity(fmt::format("{} ms", tenths), Dimension::seconds), tenths / 1e3);
  }
  same(Dimension::seconds, "-1.5e+2 ms", "-0.15 s");
  same(Dimension::seconds, "4 y", "1461 d");
  EXPECT_EQ(parse_quantity("0.0e99 s", Dimension::seconds), 0);
}

TEST(Units, EveryErrorSaysWhatIsWrongAndGivesAnExample) {
  EXPECT_EQ(message_of("fast", Dimension::bytes_per_s),
            "'fast' is not a number; expected a data rate, e.g. '2 TB/s'");
  EXPECT_EQ(message_of("", Dimension::seconds), "'' is not a number; expected a time, e.g. '30 s'");
  EXPECT_EQ(message_of("nan", Dimension::number),
            "'nan' is not a number; expected a plain number, e.g. '0.5'");
  EXPECT_EQ(message_of("inf s", Dimension::seconds),
            "'inf s' is not a number; expected a time, e.g. '30 s'");
  EXPECT_EQ(message_of("+3 s", Dimension::seconds),
            "'+3 s' is not a number; expected a time, e.g. '30 s'");
  EXPECT_EQ(message_of("1e999", Dimension::number),
            "'1e999' is beyond the range of a number; expected a plain number, e.g. '0.5'");
  EXPECT_EQ(message_of("1e308 TB", Dimension::bytes),
            "'1e308 TB' is beyond the range of a number; expected a size in bytes, e.g. '25 MB'");
  EXPECT_EQ(message_of("25", Dimension::bytes),
            "'25' has no unit; expected a size in bytes, e.g. '25 MB'");
  EXPECT_EQ(message_of("25 s", Dimension::bytes),
            "'25 s' is a time; expected a size in bytes, e.g. '25 MB'");
  EXPECT_EQ(message_of("2 TB", Dimension::bytes_per_s),
            "'2 TB' is a size in bytes; expected a data rate, e.g. '2 TB/s'");
  EXPECT_EQ(message_of("60 s", Dimension::iterations),
            "'60 s' is a time; expected a number of iterations, e.g. '10 iterations'");
  EXPECT_EQ(message_of("30 sec", Dimension::seconds),
            "'30 sec': unknown unit 'sec'; did you mean 's'? (expected a time, e.g. '30 s')");
  EXPECT_EQ(message_of("3 per 1000 node-dayz", Dimension::per_node_s),
            "'3 per 1000 node-dayz': unknown unit 'per 1000 node-dayz'; did you mean 'per 1000 "
            "node-days'? (expected a failure rate, e.g. '3.24 per 1000 node-days')");
  EXPECT_EQ(message_of("3 per node-day", Dimension::per_s),
            "'3 per node-day' is a failure rate; expected a rate of the whole job, e.g. '0.5 per "
            "day'");
  EXPECT_EQ(message_of("3 parsecs", Dimension::number),
            "'3 parsecs' is not a plain number; expected a plain number, e.g. '0.5'");
}

TEST(Units, ExamplesAreReadable) {
  for (int i = 0; i <= static_cast<int>(Dimension::iterations); ++i) {
    const auto dimension = static_cast<Dimension>(i);
    EXPECT_NO_THROW(parse_quantity(example_of(dimension), dimension));
    for (const std::string& unit : units_of(dimension)) {
      EXPECT_NO_THROW(parse_quantity("1 " + unit, dimension)) << unit;
    }
  }
}

TEST(Units, FormattedQuantityReadsBack) {
  EXPECT_EQ(format_quantity(25e6, Dimension::bytes), "25 MB");
  EXPECT_EQ(format_quantity(0, Dimension::seconds), "0 s");
  EXPECT_EQ(format_quantity(1e-6, Dimension::seconds), "1 us");
  EXPECT_EQ(format_quantity(3.24e-3 / 86400, Dimension::per_node_s), "3.24 per 1000 node-days");
  EXPECT_EQ(format_quantity(12 / 86400.0, Dimension::per_s), "12 per day");
  EXPECT_EQ(format_quantity(2048, Dimension::count), "2.048 K");
  EXPECT_EQ(format_quantity(7, Dimension::count), "7");
  for (int i = 0; i <= static_cast<int>(Dimension::iterations); ++i) {
    const auto dimension = static_cast<Dimension>(i);
    for (const double value : {1.234567e-7, -0.25, 1.0, 86399.0, 1048576.0, 1.5e13}) {
      const double back = parse_quantity(format_quantity(value, dimension), dimension);
      EXPECT_NEAR(back, value, std::abs(value) * 1e-11) << format_quantity(value, dimension);
    }
  }
}

}  // namespace
}  // namespace windtunnel
