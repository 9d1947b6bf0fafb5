#include "report/figures/figure_text.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

TEST(FigureText, ProbabilitiesNearCertaintyKeepTwoDigitsOfWhatIsMissing) {
  const auto text = [](double probability) { return value_text(Unit::probability, probability); };
  EXPECT_EQ(text(1), "100.0 %");
  EXPECT_EQ(text(0.5), "50.0 %");
  EXPECT_EQ(text(0.9935), "99.35 %");
  EXPECT_EQ(text(0.9999973), "99.99973 %");
  EXPECT_EQ(text(1 - 3.4e-15), "> 99.999999 %") << "never rounded to certainty";
}

TEST(FigureText, OfWhatIsNoNumberThereIsNone) {
  EXPECT_EQ(value_text(Unit::seconds, std::nan("")), "");
  EXPECT_EQ(value_text(Unit::usd, INFINITY), "");
  EXPECT_EQ(range_text(Unit::share, 0.857, 0.861), "85.7 % .. 86.1 %");
  EXPECT_EQ(estimate_text(Unit::days, {.mean = 90.06, .low = 89.9, .high = 90.4}),
            "90.1 d  (89.9 d .. 90.4 d)");
}

}  // namespace
}  // namespace windtunnel
