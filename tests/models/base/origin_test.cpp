#include "models/base/origin.hpp"

#include <gtest/gtest.h>

#include <string>

namespace windtunnel {
namespace {

// The words are those of a scenario's `origins:`, from the strongest evidence to the weakest.
TEST(Origin, AResultIsAsStrongAsTheWeakestOfItsNumbers) {
  const std::string words[] = {"measured", "published", "spec", "assumed"};
  for (int a = 0; a < kOrigins; ++a) {
    EXPECT_EQ(to_string(Origin(a)), words[a]);
    for (int b = 0; b <= a; ++b) {
      EXPECT_EQ(weakest(Origin(a), Origin(b)), Origin(a));
      EXPECT_EQ(weakest(Origin(b), Origin(a)), Origin(a));
    }
  }
}

}  // namespace
}  // namespace windtunnel
