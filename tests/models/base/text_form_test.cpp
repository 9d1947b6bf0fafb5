#include "models/base/text_form.hpp"

#include <gtest/gtest.h>

#include <array>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

TEST(TextForm, IsForPeople) {
  EXPECT_EQ(format_seconds(0), "0 s");
  EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(format_seconds(4.56), "4.56 s");
  EXPECT_EQ(format_seconds(0.9999), "1.00 s");
  EXPECT_EQ(format_seconds(90), "90.0 s");
  EXPECT_EQ(format_seconds(11160), "3.10 h");
  EXPECT_EQ(format_seconds(119.96), "120 s");
  EXPECT_EQ(format_seconds(925), "15.4 min");
  EXPECT_EQ(format_seconds(54 * 86400.0), "54.0 d");
  EXPECT_EQ(format_seconds(351.1 * 86400), "351 d");
  EXPECT_EQ(format_seconds(99.96 * 86400), "100 d");
  EXPECT_EQ(format_seconds(3e-6), "3.00 us");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1.62e12), "1.62 TB");
  EXPECT_EQ(format_bytes(999.9e6), "1.00 GB");
  EXPECT_EQ(format_bandwidth(2e12), "2.00 TB/s");
  EXPECT_EQ(format_memory(1023), "1023 B");
  EXPECT_EQ(format_memory(81559 * 1048576.0), "79.6 GiB");
  EXPECT_EQ(format_memory(1023.9 * 1048576), "1.00 GiB");
  EXPECT_EQ(format_count(2048), "2048");
  EXPECT_EQ(format_count(7.25), "7.25");
  EXPECT_EQ(format_count(1234.567), "1235");
  EXPECT_EQ(format_count(9999.4), "9999");
  EXPECT_EQ(format_count(9999.6), "10.0 K");
  EXPECT_EQ(format_count(85003.9), "85.0 K");
  EXPECT_EQ(format_count(999.6e3), "1.00 M");
  EXPECT_EQ(format_count(15.6e12), "15.6 T");
  EXPECT_EQ(format_percent(0.4123), "41.2 %");
}

TEST(TextForm, ScalesAreTakenByTheValueThatIsWritten) {
  constexpr std::array kScales{TextScale{0, 1, "", kAsShort}, TextScale{100, 10, "tens", 1}};
  const TextForm form{kScales, 2, "none"};
  EXPECT_EQ(format_value(0, form), "none");
  EXPECT_EQ(format_value(0.25, form), "0.5");
  EXPECT_EQ(format_value(-49, form), "-98");
  EXPECT_EQ(format_value(-50, form), "-10.0 tens");
}

}  // namespace
}  // namespace windtunnel
