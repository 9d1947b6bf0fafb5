#include "scenarios/language/library/facts/planning.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

TEST(Planning, LargerModelsHaveLargerBatches) {
  double last = 0;
  for (double parameters = 1e8; parameters < 1e13; parameters *= 1.5) {
    const double tokens = usual_batch_tokens(parameters).value;
    EXPECT_GE(tokens, last);
    last = tokens;
  }
}

TEST(Planning, EveryGpuHasAPriceAndFailures) {
  for (const GpuSpec& gpu : library_gpus()) {
    const Parameter& price = usual_price_usd_per_gpu_h(gpu.name);
    EXPECT_GT(price.low, 0) << gpu.name;
    EXPECT_GE(price.high, price.value) << gpu.name;
    EXPECT_FALSE(usual_failures(gpu.name).source.empty()) << gpu.name;
  }
  EXPECT_EQ(usual_price_usd_per_gpu_h("a100-80").value, usual_price_usd_per_gpu_h("a100").value);
  EXPECT_NE(usual_failures("a100-80").text, usual_failures("h100").text);
}

}  // namespace
}  // namespace windtunnel
