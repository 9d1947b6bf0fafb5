#include "kernels/code/xor_code.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "tests/kernels/code/xor_code_properties.hpp"

namespace windtunnel {
namespace {

TEST(XorCode, ParityOfTwoBytes) {
  const std::byte a{0b0011}, b{0b0101};
  const std::byte* sources[] = {&a, &b};
  std::byte parity{};
  xor_code(DeviceKind::cpu).combine(sources, 2, &parity, 1);
  EXPECT_EQ(parity, std::byte{0b0110});
}

TEST(XorCode, RebuildsAnyOneBlock) {
  expect_rebuilds_for_many_sizes(DeviceKind::cpu);
}

TEST(XorCode, RebuildsWideGroups) {
  expect_rebuilds(DeviceKind::cpu, {200, 1000, 0, 1});
  expect_rebuilds(DeviceKind::cpu, {200, 1000, 3, 2});
}

TEST(XorCode, NeedsABlock) {
  std::byte parity{};
  EXPECT_THROW(xor_code(DeviceKind::cpu).combine(nullptr, 0, &parity, 1), InternalError);
}

}  // namespace
}  // namespace windtunnel
