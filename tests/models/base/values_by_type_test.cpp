#include "models/base/values_by_type.hpp"

#include <gtest/gtest.h>

#include <string>

namespace windtunnel {
namespace {

TEST(ValuesByType, HasOneOfEachType) {
  ValuesByType values;
  EXPECT_EQ(values.find<int>(), nullptr);
  values.set(1);
  values.set(std::string("one"));
  values.set(2);
  EXPECT_EQ(*values.find<int>(), 2);
  EXPECT_EQ(*values.find<std::string>(), "one");
  EXPECT_FALSE(values.has<double>());
}

TEST(ValuesByType, SharesWithItsCopies) {
  ValuesByType values;
  values.share(std::make_shared<const int>(3));
  values.share(std::shared_ptr<const double>());
  ValuesByType copy = values;
  EXPECT_EQ(copy.find<int>(), values.find<int>());
  EXPECT_FALSE(copy.has<double>());
  copy.set(4);
  EXPECT_EQ(*values.find<int>(), 3);
}

}  // namespace
}  // namespace windtunnel
