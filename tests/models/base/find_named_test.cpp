#include "models/base/find_named.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

struct Gear {
  std::string_view name;
  int teeth;
};

constexpr std::array kGears = {Gear{"small", 12}, Gear{"large", 48}};

TEST(FindNamed, ItemItself) {
  EXPECT_EQ(&find_named(kGears, "gear", "large"), &kGears[1]);
}

TEST(FindNamed, UnknownNameHasTheNearestOneAndItsPlace) {
  EXPECT_EQ(error_of([] { find_named(kGears, "gear", "smal"); }),
            "unknown gear 'smal'; did you mean 'small'?");
  EXPECT_EQ(error_of([] {
              find_named(kGears, "gear", "none", {.file = "gears.yaml", .line = 3, .column = 7});
            }),
            "gears.yaml:3:7: unknown gear 'none'; known: small, large");
}

}  // namespace
}  // namespace windtunnel
