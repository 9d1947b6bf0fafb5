#include <gtest/gtest.h>

#include "report/store/sweep_figures.hpp"

namespace windtunnel {
namespace {

// Numbers are in base units. A whole number may be written as a quantity, and an interval may be a
// time or a number of iterations.
TEST(VariedKeys, AreNumbersWhereAllValuesAreOfOneDimension) {
  const auto values = [](const std::string& key, const std::vector<std::string>& texts) {
    const auto numbers = numbers_of({key, texts});
    return numbers ? numbers->values : std::vector<double>{};
  };
  EXPECT_EQ(values("layout.pp", {"1", "16"}), (std::vector<double>{1, 16}));
  EXPECT_EQ(values("snapshots.0.every", {"1 min", "2 h"}), (std::vector<double>{60, 7200}));
  EXPECT_EQ(values("snapshots.0.every", {"1 iteration", "10 iterations"}),
            (std::vector<double>{1, 10}));
  EXPECT_TRUE(values("snapshots.0.every", {"1 min", "10 iterations"}).empty());
  EXPECT_TRUE(values("schedule.name", {"gpipe", "1f1b"}).empty());
  EXPECT_TRUE(values("no.such.key", {"1"}).empty());
}

}  // namespace
}  // namespace windtunnel
