#include "validate/harness/timing/kernel_suite.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "models/calibration/kernel_law.hpp"
#include "scenarios/language/case.hpp"
#include "validate/harness/collectives/tcp_collectives.hpp"

namespace windtunnel {
namespace {

constexpr double kMemory_bytes = 1e9;

TEST(KernelSuite, MeasuresEveryKernelOfTheDeviceOnceForEachSize) {
  const std::vector<TimedWork> works =
      kernel_suite(device(DeviceKind::cpu), kMemory_bytes, nullptr, {});
  std::set<std::pair<std::string, CacheState>> names;
  std::map<std::string, int> fitted;
  for (const TimedWork& work : works) {
    EXPECT_TRUE(names.insert({to_text(work.steps), work.cache}).second) << to_text(work.steps);
    EXPECT_FALSE(work.role == SampleRole::fit && work.steps.size() > 1) << to_text(work.steps);
    if (work.role == SampleRole::fit) {
      ++fitted[work.steps[0][0].kernel + (work.cache == CacheState::cold ? " cold" : "")];
    }
  }
  for (const char* kernel :
       {"copy", "add", "quantise-int8", "sign-pack", "top-k", "rs-encode", "xor", "gemm type",
        "low-rank", "adam", "sgd", "ternary", "ternary-max", "ternary-decode", "sign-magnitude",
        "vote", "sketch", "sketch-estimate"}) {
    const std::string name = std::string(kernel).substr(0, std::string_view(kernel).find(' '));
    EXPECT_GE(fitted[name], 4) << name;
  }
  // A law needs four sizes for each state of the caches.
  for (const auto& [name, sizes] : fitted) EXPECT_GE(sizes, 4) << name;
  EXPECT_GE(fitted["copy cold"], 4);
  EXPECT_EQ(fitted["rs-encode cold"], 0);
}

// Three rows of counters are 0.15 of the elements, which is S2 Reducer's default.
TEST(KernelSuite, SketchesAsMethodsDo) {
  int sketches = 0;
  for (const TimedWork& work : kernel_suite(device(DeviceKind::cpu), kMemory_bytes)) {
    const KernelWork& first = work.steps[0][0];
    if (!first.kernel.starts_with("sketch")) continue;
    EXPECT_NEAR(3 * first.k / first.elements, 0.15, 1e-3);
    ++sketches;
  }
  EXPECT_GT(sketches, 0);
}

// Works are created but not run, so no GPU is needed.
TEST(KernelSuite, CopiesByNumbersOfStreamsHaveLawsOfTheirOwn) {
  Device gpu = device(DeviceKind::cpu);
  gpu.kind = DeviceKind::cuda;
  std::map<std::string, int> fitted;
  for (const TimedWork& work : kernel_suite(gpu, kMemory_bytes)) {
    const KernelWork& first = work.steps[0][0];
    if (work.role == SampleRole::fit && first.kernel.ends_with("-beside")) {
      ++fitted[law_key(first, work.cache)];
    }
  }
  EXPECT_EQ(fitted.size(), 12U);  // 2 directions, 2, 4 or 8 at once, warm or cold
  EXPECT_TRUE(fitted.contains("copy-to-device-beside k=8"));
  for (const auto& [key, sizes] : fitted) EXPECT_GE(sizes, 4) << key;
}

// Collectives are measured as in a training step, after other kernels wrote the gradients, and some
// rows are for judging.
TEST(KernelSuite, MeasuresCollectivesOnColdBuffersToo) {
  std::map<std::string, int> fitted;
  std::map<std::string, int> judged;
  std::set<std::string> collectives;
  run_ranks(2, [&](TcpGroup& group) {
    TcpCollectives between(group);
    for (const TimedWork& work : kernel_suite(device(DeviceKind::cpu), kMemory_bytes, &between)) {
      const std::string& name = work.steps[0][0].kernel;
      const bool single = work.steps.size() == 1 && work.steps[0].size() == 1;
      if (!single || kernel_kind(name).family != KernelFamily::collective) continue;
      collectives.insert(name);
      if (work.cache == CacheState::cold) ++(work.role == SampleRole::fit ? fitted : judged)[name];
    }
  });
  EXPECT_TRUE(collectives.contains("all-reduce-ring"));
  EXPECT_TRUE(collectives.contains("send"));
  for (const std::string& name : collectives) {
    EXPECT_GE(fitted[name], 4) << name;
    EXPECT_GE(judged[name], 1) << name;
  }
}

TEST(KernelSuite, NeedsNoMoreMemoryThanThereIs) {
  const std::vector<TimedWork> small = kernel_suite(device(DeviceKind::cpu), 1e6);
  EXPECT_FALSE(small.empty());
  EXPECT_LT(small.size(), kernel_suite(device(DeviceKind::cpu), kMemory_bytes).size());
}

TEST(KernelSuite, MeasuresTheProductsOfAJob) {
  const Case the_case = load_case(std::string(WINDTUNNEL_SOURCE_DIR) + "/scenarios/mlp-cpu.yaml");
  const std::vector<KernelWork> products = job_products(the_case.job);
  std::set<std::string> texts;
  for (const KernelWork& product : products) texts.insert(to_text({{product}}));
  EXPECT_EQ(texts.size(), products.size());
  // These include the first layer's forward product and both backward products.
  EXPECT_TRUE(texts.contains("gemm type=fp32 m=64 n=2048 k=1024"));
  EXPECT_TRUE(texts.contains("gemm type=fp32 m=64 n=2048 k=2048"));
  EXPECT_FALSE(texts.empty());
  int found = 0;
  for (const TimedWork& work :
       kernel_suite(device(DeviceKind::cpu), kMemory_bytes, nullptr, products)) {
    if (!texts.contains(to_text(work.steps))) continue;
    EXPECT_EQ(work.tier, 0);
    found += work.cache == CacheState::cold ? 1 : 0;
  }
  EXPECT_EQ(found, static_cast<int>(products.size()));
}

TEST(JobProducts, OfATransformerAreThoseOfItsLinearLayers) {
  const Case the_case = load_case(std::string(WINDTUNNEL_SOURCE_DIR) + "/scenarios/small.yaml");
  const std::vector<KernelWork> products = job_products(the_case.job);
  // In Llama 3 8B with tp 2 each of the two parts of the up projection is 14336 / 2 wide.
  bool up = false;
  for (const KernelWork& product : products) {
    EXPECT_EQ(product.precision, the_case.job.precision);
    up |= product.m == 8192 && product.k == 4096 && product.n == 14336;
  }
  EXPECT_TRUE(up);
}

}  // namespace
}  // namespace windtunnel
