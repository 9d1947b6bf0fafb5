#include "scenarios/language/library/facts/planning.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "policies/schedules/schedules.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

TEST(Planning, FrameworksNameSchedulesAndKeysThatThereAre) {
  for (const Framework& framework : frameworks()) {
    EXPECT_FALSE(framework.source.empty());
    EXPECT_FALSE(framework.sharding.empty());
    EXPECT_FALSE(framework.sharding_in_pipelines.empty());
    for (const std::string& schedule : framework.schedules) {
      EXPECT_TRUE(std::ranges::any_of(schedule_kinds(), [&](const ScheduleKind& kind) {
        return kind.name == schedule;
      })) << schedule;
    }
    for (const auto& [key, value] : framework.set) EXPECT_NE(find_field(key), nullptr) << key;
  }
}

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
