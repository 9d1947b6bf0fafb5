#include <gtest/gtest.h>

#include <cmath>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/kernel_law_fit.hpp"

namespace windtunnel {
namespace {

// What a machine would take: caches for copies, two codes, products.
double true_time(const KernelWork& work) {
  const KernelKind& kind = kernel_kind(work.kernel);
  const double bytes = kind.bytes(work);
  if (work.kernel == "gemm") return 2e-6 + kind.flops(work) / 5e10 + bytes / 2e10;
  if (work.kernel == "copy")
    return 1e-6 + std::min(bytes, 1e6) / 4e10 + std::max(0.0, bytes - 1e6) / 1e10;
  return 1e-6 + bytes / (work.m == 2 ? 2e10 : 1e10);
}

Sample timed(const std::string& text, SampleRole role, double noise, RandomStream& random) {
  Sample sample;
  sample.work = parse_kernel_steps(text);
  sample.role = role;
  for (const std::vector<KernelWork>& step : sample.work) {
    double longest = 0;
    for (const KernelWork& work : step) longest = std::max(longest, true_time(work));
    sample.median_s += longest;
  }
  sample.median_s *= std::exp(noise * random.normal());
  sample.low_s = sample.median_s * (1 - noise);
  sample.high_s = sample.median_s * (1 + noise);
  return sample;
}

std::vector<Sample> run_of(double noise, std::uint64_t seed) {
  RandomStream random(seed, RandomPurpose::test, 0);
  std::vector<Sample> samples;
  for (double bytes = 1 << 12; bytes < 3e8; bytes *= 2) {
    const auto size = static_cast<long>(bytes);
    for (const std::string& kernel :
         {fmt::format("copy bytes={}", size), fmt::format("rs-encode k=8 m=2 bytes={}", size),
          fmt::format("rs-encode k=8 m=4 bytes={}", size)}) {
      samples.push_back(timed(kernel, SampleRole::fit, noise, random));
    }
  }
  for (const int n : {64, 96, 128, 256, 384, 512, 1024, 2048}) {
    samples.push_back(
        timed(fmt::format("gemm type=fp32 m={0} n={0} k={0}", n), SampleRole::fit, noise, random));
  }
  samples.push_back(timed("copy bytes=4096", SampleRole::again, noise, random));
  return samples;
}

const std::vector<std::string> kCompositions = {
    "copy bytes=200000",
    "rs-encode k=8 m=4 bytes=700000 > copy bytes=2800000",
    "gemm type=fp32 m=640 n=640 k=640 & copy bytes=1000000",
    "gemm type=fp32 m=700 n=300 k=500 > rs-encode k=8 m=2 bytes=50000 > copy bytes=100000000",
};

TEST(KernelLaw, KeysTellLawsApartAndSizesTogether) {
  const auto key = [](std::string_view text) { return law_key(parse_kernel_steps(text)[0][0]); };
  EXPECT_EQ(key("gemm type=bf16 m=1 n=2 k=3"), "gemm type=bf16");
  EXPECT_EQ(key("rs-encode k=8 m=2 bytes=64"), "rs-encode k=8 m=2");
  EXPECT_EQ(key("top-k elements=100 k=1"), "top-k");
  EXPECT_EQ(key("all-reduce-ring bytes=100 ranks=4"), "all-reduce-ring ranks=4");
}

TEST(KernelLaw, PredictsCompositionsWithoutNoise) {
  const KernelLaws laws = fit_kernel_laws(run_of(0, 1));
  RandomStream random(1, RandomPurpose::test, 1);
  for (const std::string& text : kCompositions) {
    const Sample sample = timed(text, SampleRole::judge, 0, random);
    EXPECT_NEAR(predicted_time(sample.work, laws, sample.cache).seconds / sample.median_s, 1, 0.05)
        << text;
  }
}

TEST(KernelLaw, IntervalsHoldNineOfTen) {
  constexpr double kNoise = 0.04;
  int held = 0;
  int all = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    // Runs that hardly differ would know their spread from one pair of timings by luck alone.
    KernelLaws laws = fit_kernel_laws(run_of(kNoise, seed));
    RandomStream random(seed, RandomPurpose::test, 2);
    for (const std::string& text : kCompositions) {
      const Sample sample = timed(text, SampleRole::judge, kNoise, random);
      const PredictedTime time = predicted_time(sample.work, laws, sample.cache);
      held += time.low_s <= sample.median_s && sample.median_s <= time.high_s ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GT(held, 0.80 * all);
  EXPECT_LT(held, 0.99 * all);
}

TEST(KernelLaw, ColdCachesHaveLawsOfTheirOwn) {
  std::vector<Sample> samples = run_of(0, 1);
  const size_t warm = samples.size();
  for (size_t i = 0; i < warm; ++i) {
    if (samples[i].work[0][0].kernel != "copy" || samples[i].role == SampleRole::again) continue;
    Sample cold = samples[i];
    cold.cache = CacheState::cold;
    cold.median_s *= 3;
    samples.push_back(cold);
  }
  const KernelLaws laws = fit_kernel_laws(samples);
  const KernelSteps copy = parse_kernel_steps("copy bytes=200000");
  EXPECT_NEAR(predicted_time(copy, laws, CacheState::cold).seconds /
                  predicted_time(copy, laws, CacheState::warm).seconds,
              3, 1e-6);
  EXPECT_EQ(find_law(laws, "copy")->key, "copy cold");
  EXPECT_EQ(find_law(laws, "copy", CacheState::warm)->key, "copy");
  // What was measured warm alone serves for both.
  EXPECT_EQ(find_law(laws, "gemm type=fp32")->key, "gemm type=fp32");
  EXPECT_EQ(find_law(laws, "cop"), nullptr);
}

TEST(KernelLaw, SaysWhatIsMissing) {
  std::vector<Sample> samples = run_of(0, 1);
  samples.erase(samples.begin() + 6, samples.end());
  EXPECT_THROW(fit_kernel_laws(samples), Error);
  const KernelLaws laws = fit_kernel_laws(run_of(0, 1));
  EXPECT_THROW(predicted_time(parse_kernel_steps("xor k=4 m=1 bytes=64"), laws, CacheState::warm),
               Error);
}

}  // namespace
}  // namespace windtunnel
