#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/calibration/kernel_law_fit.hpp"

namespace windtunnel {
namespace {

// Times on a made-up machine: copies that a cache speeds up, two codes, and matrix products.
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

// Slows the sample as if other processes had run beside it for this share of its time.
void disturb(Sample& sample, double share, double log_slowdown) {
  for (double* seconds : {&sample.median_s, &sample.low_s, &sample.high_s}) {
    *seconds *= std::exp(share * log_slowdown);
  }
  sample.disturbed = share;
}

double over_truth(const std::string& text, const KernelLaws& laws, double disturbed = 0) {
  const KernelSteps steps = parse_kernel_steps(text);
  return predicted_time(steps, laws, CacheState::warm, disturbed).seconds / true_time(steps[0][0]);
}

TEST(KernelLaw, KeysTellLawsApartAndSizesTogether) {
  const auto key = [](std::string_view text) { return law_key(parse_kernel_steps(text)[0][0]); };
  EXPECT_EQ(key("gemm type=bf16 m=1 n=2 k=3"), "gemm type=bf16");
  EXPECT_EQ(key("rs-encode k=8 m=2 bytes=64"), "rs-encode k=8 m=2");
  EXPECT_EQ(key("top-k elements=100 k=1"), "top-k");
  EXPECT_EQ(key("vote elements=100 k=4"), "vote");
  EXPECT_EQ(key("copy bytes=64"), "copy");
  EXPECT_EQ(key("copy-to-host-beside k=4 bytes=64"), "copy-to-host-beside k=4");
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
    // Without noise between runs, one pair of timings would fix their spread by chance.
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
  // A law that was measured warm serves cold caches too if there is no cold one.
  EXPECT_EQ(find_law(laws, "gemm type=fp32")->key, "gemm type=fp32");
  EXPECT_EQ(find_law(laws, "cop"), nullptr);
}

// The curve bends at 1 MB: one copy of half that size stays in the cache, two such copies in turn
// do not.
TEST(KernelLaw, StepsShareTheCachesWithEachOther) {
  const KernelLaws laws = fit_kernel_laws(run_of(0, 1));
  const auto predicted = [&](const char* text) {
    return predicted_time(parse_kernel_steps(text), laws, CacheState::warm).seconds;
  };
  const double whole_s = true_time(parse_kernel_steps("copy bytes=8388608")[0][0]);
  EXPECT_NEAR(predicted("copy bytes=4194304 > copy bytes=4194304") / whole_s, 1, 0.02);
  const double small_s = true_time(parse_kernel_steps("copy bytes=262144")[0][0]);
  EXPECT_NEAR(predicted("copy bytes=262144") / small_s, 1, 0.02);
  EXPECT_GT(predicted("copy bytes=262144 > copy bytes=4194304"),
            1.3 * small_s + predicted("copy bytes=4194304"));
  EXPECT_GE(predicted("copy bytes=262144 > copy bytes=64"), small_s);
}

// Beyond the measured sizes of a kernel its time is the cold one, as far as `scale` shows the
// working set to be in memory. Without a cold law it grows by the same factor as that of `scale`.
TEST(KernelLaw, WorkingSetsOutgrowCachesAsStreamsSay) {
  KernelLaws laws;
  const auto add = [&](const char* key, std::vector<double> sizes, std::vector<double> seconds) {
    KernelLaw law;
    law.key = key;
    law.most = sizes.back();
    law.curve = {.sizes = std::move(sizes), .seconds = std::move(seconds)};
    laws.laws.push_back(law);
  };
  // A byte of `scale` takes 0.1 ns up to 10 MB, 0.15 ns at 20 MB, 0.2 ns at 40 MB.
  add("scale", {0, 1e7, 2e7, 4e7}, {0, 1e-3, 3e-3, 8e-3});
  add("xor k=4 m=1", {0, 1e7}, {0, 3e-3});
  add("add", {0, 1e7}, {0, 1e-3});
  add("add cold", {0, 1e7}, {0, 1.8e-3});
  const auto predicted = [&](const std::string& text) {
    return predicted_time(parse_kernel_steps(text), laws, CacheState::warm);
  };
  const std::string exclusive = "xor k=4 m=1 bytes=2000000";
  const std::string sum = "add elements=833333.3333333333";
  EXPECT_NEAR(predicted(exclusive).seconds, 3e-3, 1e-9);
  EXPECT_NEAR(predicted(exclusive + " > " + sum).seconds, 3e-3 + 0.5e-3 + 1e-3 + 0.5 * 0.8e-3,
              1e-9);
  const std::string large = exclusive + " > " + exclusive + " > " + sum + " > " + sum;
  EXPECT_NEAR(predicted(large).seconds, 2 * (3e-3 + 1e-3 + 1.8e-3), 1e-9);
  // The interval is wider where a small difference in cache size decides.
  const PredictedTime at_edge = predicted(exclusive + " > " + sum);
  const PredictedTime inside = predicted("add elements=200000 > add elements=200000");
  EXPECT_GT(at_edge.high_s / at_edge.low_s, 1.05 * inside.high_s / inside.low_s);
}

TEST(KernelLaw, ProductsKnowTheShapesNearThem) {
  std::vector<Sample> samples = run_of(0, 1);
  RandomStream random(1, RandomPurpose::test, 3);
  Sample odd = timed("gemm type=fp32 m=2048 n=2048 k=64", SampleRole::fit, 0, random);
  for (double* seconds : {&odd.median_s, &odd.low_s, &odd.high_s}) *seconds *= 1.3;
  samples.push_back(odd);
  const KernelLaws laws = fit_kernel_laws(samples);
  EXPECT_NEAR(over_truth("gemm type=fp32 m=2048 n=2048 k=64", laws), 1.3, 0.08);
  EXPECT_NEAR(over_truth("gemm type=fp32 m=1800 n=2200 k=64", laws), 1.25, 0.1);
  EXPECT_NEAR(over_truth("gemm type=fp32 m=512 n=512 k=512", laws), 1, 0.05);
  const KernelLaw& law = *find_law(laws, "gemm type=fp32");
  EXPECT_NEAR(shape_factor(law, 1, 1, 1), 1, 1e-6) << "none is near";
  EXPECT_EQ(shape_factor(law, 0, 0, 0), 1) << "no product";
}

// Two of five sizes were timed beside other processes, which slow copies by less than is assumed
// and the codes by more.
TEST(KernelLaw, RowsBesideOthersTellWhatTheirKernelsLose) {
  std::vector<Sample> samples = run_of(0.01, 1);
  for (size_t i = 0; i < samples.size(); ++i) {
    const bool copy = samples[i].work[0][0].kernel == "copy";
    if (i % 5 < 2) disturb(samples[i], i % 2 == 0 ? 1 : 0.6, copy ? 0.2 : 0.5);
  }
  const KernelLaws laws = fit_kernel_laws(samples);
  const Slowdown& of_copies = find_law(laws, "copy")->slowdown;
  EXPECT_NEAR(of_copies.log, 0.2, 0.06);
  EXPECT_LT(of_copies.spread, Slowdown{}.spread);
  EXPECT_NEAR(find_law(laws, "rs-encode k=8 m=2")->slowdown.log, 0.5, 0.08);
  EXPECT_NEAR(over_truth("copy bytes=100000000", laws), 1, 0.05);
  EXPECT_NEAR(over_truth("rs-encode k=8 m=4 bytes=10000000", laws), 1, 0.05);
  EXPECT_NEAR(over_truth("rs-encode k=8 m=4 bytes=10000000", laws, 1), std::exp(0.5), 0.1);
}

TEST(KernelLaw, OfAMachineThatIsAlwaysSharedWorksAloneAreInferred) {
  std::vector<Sample> samples = run_of(0, 1);
  for (Sample& sample : samples) disturb(sample, 0.9, Slowdown{}.log + 0.1);
  const KernelLaws laws = fit_kernel_laws(samples);
  EXPECT_EQ(find_law(laws, "copy")->slowdown.log, Slowdown{}.log);
  EXPECT_GT(find_law(laws, "copy")->slowdown.spread, Slowdown{}.spread)
      << "of runs, and of kernels";
  EXPECT_NEAR(over_truth("copy bytes=100000000", laws), std::exp(0.9 * 0.1), 0.03);
  EXPECT_NEAR(over_truth("copy bytes=100000000", laws, 0.9), std::exp(0.9 * (Slowdown{}.log + 0.1)),
              0.05);
}

// Kernels lose unequal amounts to other processes, unknown to the fit. Times are predicted alone
// and beside others.
TEST(KernelLaw, IntervalsHoldNineOfTenBesideOthers) {
  constexpr double kNoise = 0.04;
  constexpr double kShare = 0.7;
  for (const double predicted_share : {0.0, kShare}) {
    int held = 0;
    int all = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      RandomStream random(seed, RandomPurpose::test, 4);
      std::map<std::string, double> lost;
      const double run = Slowdown{}.log + 0.15 * random.normal();
      for (const char* kernel : {"copy", "rs-encode", "gemm"}) {
        lost[kernel] = run + Slowdown{}.spread * random.normal();
      }
      const auto beside = [&](Sample& sample, double share) {
        disturb(sample, share, lost.at(sample.work[0][0].kernel) + kSizesDiffer * random.normal());
      };
      std::vector<Sample> samples = run_of(kNoise, seed);
      for (Sample& sample : samples) beside(sample, kShare);
      const KernelLaws laws = fit_kernel_laws(samples);
      for (const char* text : {"copy bytes=200000", "rs-encode k=8 m=4 bytes=700000"}) {
        Sample sample = timed(text, SampleRole::judge, kNoise, random);
        beside(sample, predicted_share);
        const PredictedTime time = predicted_time(sample.work, laws, sample.cache, predicted_share);
        held += time.low_s <= sample.median_s && sample.median_s <= time.high_s ? 1 : 0;
        ++all;
      }
    }
    EXPECT_GE(held, 0.82 * all) << predicted_share;
    EXPECT_LT(held, 0.99 * all) << predicted_share;
  }
}

// Repeated timings show the spread between runs, even beside other processes.
TEST(KernelLaw, RepeatsBesideOthersTellTheSpreadOfRuns) {
  constexpr double kNoise = 0.08;
  std::vector<Sample> samples = run_of(0, 1);
  RandomStream random(1, RandomPurpose::test, 5);
  for (const char* text : {"copy bytes=8192", "copy bytes=65536", "copy bytes=1048576",
                           "rs-encode k=8 m=2 bytes=8192", "gemm type=fp32 m=256 n=256 k=256"}) {
    samples.push_back(timed(text, SampleRole::again, kNoise, random));
  }
  for (Sample& sample : samples) disturb(sample, 0.9, Slowdown{}.log);
  const double spread = fit_kernel_laws(samples).run_spread;
  EXPECT_GT(spread, kNoise / 4);
  EXPECT_LT(spread, kNoise * 1.5);
}

// The fit was timed beside processes that took most of every core, the repeats without them.
TEST(KernelLaw, RepeatsTellWhatOthersCostInTheRun) {
  std::vector<Sample> samples = run_of(0, 1);
  RandomStream random(1, RandomPurpose::test, 6);
  for (Sample& sample : samples) disturb(sample, 0.9, 0.55);
  for (const char* text : {"copy bytes=8192", "copy bytes=65536", "copy bytes=1048576",
                           "rs-encode k=8 m=2 bytes=8192", "gemm type=fp32 m=256 n=256 k=256"}) {
    samples.push_back(timed(text, SampleRole::again, 0.02, random));
  }
  const KernelLaws laws = fit_kernel_laws(samples);
  EXPECT_NEAR(find_law(laws, "rs-encode k=8 m=4")->slowdown.log, 0.55, 0.08);
  EXPECT_NEAR(over_truth("rs-encode k=8 m=4 bytes=10000000", laws), 1, 0.08);
  EXPECT_LT(laws.run_spread, 0.05);
}

// A working set that is far beyond the caches costs nothing more, even if the curve of `scale`
// rises a little. A small kernel beside a large one costs no more than its own bytes.
TEST(KernelLaw, WhatMemoryCostsIsByTheByteAndClear) {
  KernelLaws laws;
  const auto add = [&](const char* key, double least, double most, double byte_s, double bend) {
    KernelLaw law;
    law.key = key;
    law.least = least;
    law.most = most;
    law.curve = {.sizes = {least, most / 2, most},
                 .seconds = {byte_s * least, byte_s * most / 2, bend * byte_s * most}};
    law.spread = 0.02;
    laws.laws.push_back(law);
  };
  add("scale", 1e4, 4e7, 1e-10, 1.02);
  add("add", 1e3, 1e7, 1e-10, 1);
  add("add cold", 1e6, 1e7, 1.5e-10, 1);
  const auto seconds = [&](const char* text) {
    return predicted_time(parse_kernel_steps(text), laws, CacheState::warm).seconds;
  };
  const char* const large = "scale elements=5000000";  // 40 MB
  const std::string small = std::string(large) + " > add elements=100";
  EXPECT_NEAR(seconds(small.c_str()) - seconds(large), 1e-10 * 1200, 1e-12);
  laws.laws[0].curve.seconds.back() *= 2;
  EXPECT_NEAR(seconds(small.c_str()) - seconds(large), 1.5e-10 * 1200, 2e-8);
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
