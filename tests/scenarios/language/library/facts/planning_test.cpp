#include "scenarios/language/library/facts/planning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/calibration/prediction_error.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

UsualPart failures_of(const std::string& gpu, int gpus) {
  NodeSpec node;
  node.gpu.name = gpu;
  node.gpus = gpus;
  return usual_failures(node);
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
    EXPECT_EQ(price.source.find("of an H100"), std::string::npos) << gpu.name;
    EXPECT_FALSE(failures_of(gpu.name, 8).source.empty()) << gpu.name;
  }
  EXPECT_LT(usual_price_usd_per_gpu_h("rtx4090").high, usual_price_usd_per_gpu_h("h100").low);
  EXPECT_EQ(usual_price_usd_per_gpu_h("a100-80").value, usual_price_usd_per_gpu_h("a100").value);
  EXPECT_NE(failures_of("a100-80", 8).text, failures_of("h100", 8).text);
}

// Equal numbers of GPUs lose equal hours and have equal storage bandwidth, however they are divided
// into nodes.
TEST(Planning, WhatIsCountedForEightGpusGoesWithTheGpus) {
  const auto node_rate_s = [](int gpus) {
    double rate_s = 0;
    for (const DocumentNode& each :
         parse_document(failures_of("gb200", gpus).text, "failures").items) {
      if (each.value_of("class")->text == "process") continue;
      rate_s += quantity(*each.value_of("rate"), Dimension::per_node_s, "rate");
    }
    return rate_s;
  };
  const double of_eight_s = node_rate_s(8);
  EXPECT_NEAR(of_eight_s * 86400e3, 3.24, 1e-9);
  for (const int gpus : {1, 2, 4, 16, 72, 144}) {
    EXPECT_NEAR(node_rate_s(gpus) / of_eight_s, gpus / 8.0, 1e-2 * gpus / 8) << gpus;
  }
  EXPECT_NE(failures_of("gb200", 72).text.find("tray"), std::string::npos);
  EXPECT_EQ(usual_storage(512).text, "{write: 40 GB/s, read: 80 GB/s}");
  EXPECT_EQ(usual_storage(4 * 72).text, "{write: 22.5 GB/s, read: 45 GB/s}");
}

// One further cluster tells little about the next one; many tell more.
TEST(Planning, RatesOfOtherClustersAreAsUnsureAsThoseThatWerePublished) {
  const Parameter& error = failure_rate_error();
  const DocumentNode clusters = require(library_document("planning.yaml"), "failure_clusters");
  ASSERT_GE(clusters.items.size(), 7U);
  double least = 1e9;
  double most = 0;
  for (const DocumentNode& each : clusters.items) {
    const double rate = quantity(*each.value_of("rate"), Dimension::per_node_s, "rate");
    least = std::min(least, rate);
    most = std::max(most, rate);
  }
  const double factor = error_factor(error, 0.9);
  EXPECT_GT(factor, std::sqrt(most / least)) << "from the middle of all to the ends";
  // Around the rate of one cluster the factor follows from Student's t with six degrees of freedom,
  // 1.943, times 0.6428 sqrt(2).
  EXPECT_NEAR(factor, 5.85, 0.01);
  EXPECT_LT(factor, most / least);
  EXPECT_NEAR(freedom_of(error), clusters.items.size() - 1.0, 1e-9);
}

}  // namespace
}  // namespace windtunnel
