#include "models/base/precision.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(Precision, ScaledFormatsAreOfProductsTensorsStayIn16Bit) {
  for (const Precision wide : {Precision::fp32, Precision::tf32}) {
    EXPECT_FALSE(is_mixed(wide) || is_scaled(wide));
    EXPECT_EQ(bytes_of(wide), 4);
  }
  for (const Precision narrow :
       {Precision::fp16, Precision::bf16, Precision::fp8, Precision::mxfp8, Precision::nvfp4}) {
    EXPECT_TRUE(is_mixed(narrow));
    EXPECT_EQ(is_scaled(narrow), narrow >= Precision::fp8);
    EXPECT_EQ(bytes_of(narrow), 2);
  }
}

}  // namespace
}  // namespace windtunnel
