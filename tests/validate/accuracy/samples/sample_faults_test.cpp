#include "validate/accuracy/samples/sample_faults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "models/calibration/kernel_law_fit.hpp"
#include "tests/support/test_names.hpp"
#include "tests/validate/accuracy/samples/sample_faults_run.hpp"
#include "traces/rows/samples.hpp"

namespace windtunnel {
namespace {

using Series = std::vector<Sample>;
using Random = RandomStream;

constexpr int kSeeds = 20;

double between(Random& random, double least, double most) {
  return least * std::pow(most / least, random.uniform());
}

const std::vector<std::string> kManySizes = {"copy", "add", "scale", "quantise-int8", "xor"};

// Returns a row whose neighbours in size reveal a fault.
Sample& inner_row(Series& run, Random& random, const std::string& kernel) {
  const std::vector<Sample*> series = series_of(run, kernel);
  return *series[3 + random.below(series.size() - 6)];
}
Sample& inner_row(Series& run, Random& random) {
  return inner_row(run, random, kManySizes[random.below(kManySizes.size())]);
}

KnownMachine known_of(MachineKind kind) {
  KnownMachine known;
  if (kind == MachineKind::gpu) known.spec = spec_of_device("NVIDIA H200");
  return known;
}

std::set<std::string> kinds_of(const std::vector<SampleFault>& faults) {
  std::set<std::string> kinds;
  for (const SampleFault& fault : faults) kinds.insert(fault.kind);
  return kinds;
}

std::string text_of(const std::vector<SampleFault>& faults) {
  std::string text;
  for (const SampleFault& fault : faults) {
    text += fmt::format("{}: {} ({} rows)\n", fault.kind, fault.what, fault.rows.size());
  }
  return text;
}

void time_sliced(Series& run, Random& random, KnownMachine&) {
  for (Sample* s : series_of(run, "xor")) s->ranks_per_device = 2 + int(random.below(7));
}
void mixed_devices(Series& run, Random& random, KnownMachine&) {
  const std::size_t first = 1 + random.below(run.size() - 1);
  for (std::size_t i = first; i < run.size(); ++i) run[i].device += " of another make";
}
void wrong_device(Series& run, Random&, KnownMachine& known) {
  known.device = run[0].device + " with more memory";
}
void wrong_spec(Series& run, Random&, KnownMachine& known) {
  for (Sample& s : run) s.device = "NVIDIA H100 80GB HBM3";
  known.spec = spec_of_device("NVIDIA H200");
}
void mixed_drivers(Series& run, Random& random, KnownMachine&) {
  const std::size_t first = 1 + random.below(run.size() - 1);
  for (std::size_t i = first; i < run.size(); ++i) run[i].driver += ".1";
}
void stale_driver(Series&, Random&, KnownMachine& known) {
  known.driver = "999.1";
}
void mixed_ranks(Series& run, Random& random, KnownMachine&) {
  const std::size_t first = 1 + random.below(run.size() - 20);
  for (std::size_t i = first; i < run.size(); ++i) run[i].ranks = 2;
}
void mixed_dates(Series& run, Random& random, KnownMachine&) {
  const std::size_t first = 1 + random.below(run.size() - 1);
  for (std::size_t i = first; i < run.size(); ++i) run[i].date = "2026-12-01";
}
void too_few_points(Series& run, Random& random, KnownMachine&) {
  const std::string kernel = random.below(2) == 0 ? "quantise-int8" : "sign-pack";
  const std::size_t left = 1 + random.below(3);
  std::set<std::string> kept;
  for (const Sample* s : series_of(run, kernel)) {
    if (kept.size() < left) kept.insert(to_text(s->work));
  }
  std::erase_if(run, [&](const Sample& s) {
    return is_single(s) && kernel_of(s) == kernel && s.role != SampleRole::again &&
           !kept.contains(to_text(s.work));
  });
}
void narrow_range(Series& run, Random&, KnownMachine&) {
  const std::vector<Sample*> series = series_of(run, "scale");
  std::set<std::string> kept;
  for (std::size_t i = 4; i < 7; ++i) kept.insert(to_text(series[i]->work));
  kept.insert("scale elements=100000");
  series[7]->work = parse_kernel_steps("scale elements=100000");
  std::erase_if(run, [&](const Sample& s) {
    return is_single(s) && kernel_of(s) == "scale" && !kept.contains(to_text(s.work));
  });
}
void duplicated_rows(Series& run, Random& random, KnownMachine&) {
  const std::uint64_t copies = 1 + random.below(10);
  for (std::uint64_t i = 0; i < copies; ++i) run.push_back(run[random.below(run.size() - 1)]);
}
void throttled(Series& run, Random& random, KnownMachine&) {
  const std::size_t first = random.below(run.size() * 4 / 5);
  const double slower = between(random, 1.05, 1.8);
  for (std::size_t i = first; i < run.size(); ++i) {
    run[i].after.throttled = true;
    stretch(run[i], slower);
  }
}
// No throttling flag is set, only the clock is low.
void slow_clock(Series& run, Random& random, KnownMachine&) {
  const double share = between(random, 0.4, 0.85);
  const std::size_t first = run.size() / 4 + random.below(run.size() / 2);
  for (std::size_t i = first; i < run.size(); ++i) {
    run[i].before.clock_Hz *= share;
    run[i].after.clock_Hz *= share;
    stretch(run[i], 1 / share);
  }
}
void tainted_rows(Series& run, Random& random, KnownMachine&) {
  for (int i = 0; i < 3; ++i) inner_row(run, random).before.throttled = true;
}
// Rows that never had the device to themselves are longer, because of other processes.
void disturbed(Series& run, Random& random, KnownMachine&) {
  for (int i = 0; i < 20; ++i) {
    Sample& s = inner_row(run, random);
    if (s.disturbed == 0) stretch(s, between(random, 1.2, 2));
    s.disturbed = between(random, 0.5, 1);
  }
}
void milliseconds(Series& run, Random& random, KnownMachine&) {
  const double factor = random.below(2) == 0 ? 1e3 : 1e6;
  for (Sample& s : run) stretch(s, factor);
}
void some_milliseconds(Series& run, Random& random, KnownMachine&) {
  const double factor = std::pow(1e3, random.below(2) == 0 ? 1.0 : -1.0);
  const std::uint64_t rows = 1 + random.below(4);
  for (std::uint64_t i = 0; i < rows; ++i) {
    Sample& s = inner_row(run, random);
    if (s.median_s < 1e3 && s.median_s > 1e-9) stretch(s, factor);
  }
}
void kilobytes(Series& run, Random& random, KnownMachine&) {
  const double factor = random.below(2) == 0 ? 1e-3 : 1e3;
  for (Sample& s : run) {
    if (is_single(s) && kernel_of(s) == "copy") s.work[0][0].bytes *= factor;
  }
}
void kiloseconds(Series& run, Random&, KnownMachine&) {
  for (Sample& s : run) stretch(s, 1e-3);
}
void bits_of_a_kernel(Series& run, Random& random, KnownMachine&) {
  const std::string kernel = random.below(2) == 0 ? "copy" : "xor";
  for (Sample& s : run) {
    if (is_single(s) && kernel_of(s) == kernel) s.work[0][0].bytes *= 8;
  }
}
void bits_of_rows(Series& run, Random& random, KnownMachine&) {
  const double factor = random.below(2) == 0 ? 8 : 1.0 / 8;
  for (const std::string& kernel : kManySizes) stretch(inner_row(run, random, kernel), factor);
}
void bits_of_all(Series& run, Random& random, KnownMachine&) {
  const double factor = random.below(2) == 0 ? 8 : 1.0 / 8;
  for (Sample& s : run) {
    for (std::vector<KernelWork>& step : s.work) {
      for (KernelWork& work : step) {
        work.bytes = std::round(work.bytes * factor);
        work.elements = std::round(work.elements * factor);
      }
    }
  }
}
void below_specification(Series& run, Random& random, KnownMachine&) {
  slow_down(run, between(random, 15, 150));
}
void above_specification(Series& run, Random& random, KnownMachine&) {
  const double faster = between(random, 1.5, 3);
  for (Sample& s : run) stretch(s, 1 / faster);
}
void non_monotone(Series& run, Random& random, KnownMachine&) {
  const std::vector<Sample*> series =
      series_of(run, random.below(2) == 0 ? "add" : "sign-pack", true);
  const std::size_t count = series.size();
  const std::size_t first = count - 8 - random.below(3);
  for (std::size_t i = 0; i < 4; ++i) {
    std::swap(series[first + i]->work, series[first + 7 - i]->work);
  }
}
// The subtracted overhead is nearly as long as the smallest work.
void negative_latency(Series& run, Random& random, KnownMachine&) {
  const std::vector<Sample*> series = series_of(run, "quantise-int8", true);
  double least_s = HUGE_VAL;
  for (const Sample* s : series) least_s = std::min(least_s, s->median_s);
  const double off_s = least_s * (1 - between(random, 0.02, 0.08));
  for (Sample* s : series) stretch(*s, (s->median_s - off_s) / s->median_s);
}
void no_time(Series& run, Random& random, KnownMachine&) {
  stretch(inner_row(run, random), -1);
}
void outliers(Series& run, Random& random, KnownMachine&) {
  Sample& slow = inner_row(run, random, "add");
  stretch(slow, between(random, 12, 200));
  Sample& fast = inner_row(run, random, "xor");
  stretch(fast, between(random, 0.02, 0.08));
}
void unsure(Series& run, Random& random, KnownMachine&) {
  for (int i = 0; i < 3; ++i) {
    Sample& s = inner_row(run, random);
    s.high_s = s.median_s * between(random, 3.5, 20);
    s.p95_s = std::max(s.p95_s, s.high_s);
  }
}
void few_timings(Series& run, Random& random, KnownMachine&) {
  inner_row(run, random).repeats = 1 + int(random.below(4));
}
void cold_faster(Series& run, Random& random, KnownMachine&) {
  const double share = between(random, 0.4, 0.75);
  for (Sample& cold : run) {
    if (cold.cache != CacheState::cold) continue;
    for (const Sample& warm : run) {
      if (warm.cache == CacheState::warm && to_text(warm.work) == to_text(cold.work)) {
        stretch(cold, share * warm.median_s / cold.median_s);
      }
    }
  }
}
void drift(Series& run, Random& random, KnownMachine&) {
  const double all = std::log(between(random, 1.7, 3));
  for (Sample& s : run) stretch(s, std::exp(all * s.started_s / run.back().started_s));
}
// Changes the repeated measurement of the first work.
void changed_work(Series& run, Random& random, KnownMachine&) {
  stretch(run.back(), run[0].median_s / run.back().median_s * between(random, 5, 12));
}

using Mutation = void (*)(Series&, Random&, KnownMachine&);
struct Case {
  const char* kind;
  Mutation mutate;
  bool host = true;
  bool gpu = true;
};

const std::vector<Case> kCases = {
    {"time-sliced", time_sliced},
    {"mixed-devices", mixed_devices, true, false},
    {"wrong-device", wrong_device},
    {"wrong-device", wrong_spec, false},
    {"mixed-drivers", mixed_drivers},
    {"stale-driver", stale_driver},
    {"mixed-ranks", mixed_ranks},
    {"mixed-dates", mixed_dates},
    {"too-few-points", too_few_points},
    {"too-few-points", narrow_range},
    {"duplicated-rows", duplicated_rows},
    {"throttled", throttled},
    {"throttled", slow_clock, false},
    {"tainted-rows", tainted_rows},
    {"swapped-units", milliseconds},
    {"swapped-units", some_milliseconds},
    {"swapped-units", kilobytes},
    {"swapped-units", kiloseconds},
    {"bits-for-bytes", bits_of_a_kernel},
    {"bits-for-bytes", bits_of_rows},
    {"bits-for-bytes", bits_of_all, false},
    {"above-specification", above_specification, false},
    {"non-monotone", non_monotone},
    {"negative-latency", negative_latency, true, false},
    {"negative-latency", no_time},
    {"outliers", outliers},
    {"unsure", unsure},
    {"unsure", few_timings},
    {"cold-faster", cold_faster},
    {"drift", drift},
    {"drift", changed_work},
    {"disturbed", disturbed},
    {"below-specification", below_specification, false},
};

class SampleFaultCase : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SampleFaultCase, IsFoundWhateverTheSeedAndNothingElseIs) {
  const Case& test = kCases[GetParam()];
  for (const MachineKind kind : {MachineKind::host, MachineKind::gpu}) {
    if (!(kind == MachineKind::host ? test.host : test.gpu)) continue;
    for (int seed = 1; seed <= kSeeds; ++seed) {
      Series run = clean_run(kind, static_cast<std::uint64_t>(seed));
      KnownMachine known = known_of(kind);
      Random random(static_cast<std::uint64_t>(seed), RandomPurpose::test, 1 + GetParam());
      test.mutate(run, random, known);
      const std::vector<SampleFault> faults = sample_faults(run, known);
      EXPECT_EQ(kinds_of(faults), std::set<std::string>{test.kind})
          << "machine " << int(kind) << ", seed " << seed << "\n"
          << text_of(faults);
    }
  }
}

// Some kinds of fault have more than one mutation.
INSTANTIATE_TEST_SUITE_P(Kinds, SampleFaultCase, ::testing::Range<std::size_t>(0, kCases.size()),
                         named([](std::size_t i) {
                           return fmt::format("{} {}", i, kCases[i].kind);
                         }));

TEST(SampleFaults, EveryKindHasAMutation) {
  std::set<std::string> tested = {"bad-law", "unlike-earlier"};  // tested below
  for (const Case& test : kCases) tested.insert(test.kind);
  for (const SampleFaultKind& kind : sample_fault_kinds()) {
    EXPECT_TRUE(tested.contains(std::string(kind.name))) << kind.name;
    EXPECT_FALSE(kind.help.empty() || kind.advice.empty()) << kind.name;
  }
}

TEST(SampleFaults, CleanRunsRaiseNoAlarm) {
  for (const MachineKind kind : {MachineKind::host, MachineKind::gpu}) {
    int with_faults = 0;
    for (std::uint64_t seed = 1001; seed <= 1200; ++seed) {
      const std::vector<SampleFault> faults = sample_faults(clean_run(kind, seed), known_of(kind));
      EXPECT_FALSE(any_refused(faults)) << "seed " << seed << "\n" << text_of(faults);
      with_faults += faults.empty() ? 0 : 1;
    }
    // Noise has unbounded tails, so one run in a few hundred has a real outlier.
    EXPECT_LE(with_faults, 2) << int(kind);
  }
}

// Other jobs load the machine: it is three times as noisy, and a quarter of its works are slowed by
// a factor of up to eight.
TEST(SampleFaults, NoisyRunsAreNotRefused) {
  constexpr double kNoise = 3;
  for (const MachineKind kind : {MachineKind::host, MachineKind::gpu}) {
    for (std::uint64_t seed = 2001; seed <= 2200; ++seed) {
      const std::vector<SampleFault> faults =
          sample_faults(clean_run(kind, seed, kNoise), known_of(kind));
      EXPECT_FALSE(any_refused(faults) || kinds_of(faults).contains("cold-faster"))
          << int(kind) << ", seed " << seed << "\n"
          << text_of(faults);
    }
  }
}

TEST(SampleFaults, LawsThatMissAndCalibrationsThatDifferAreTold) {
  for (const MachineKind kind : {MachineKind::host, MachineKind::gpu}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Series run = clean_run(kind, seed);
      const KernelLaws laws = fit_kernel_laws(run);
      KnownMachine known = known_of(kind);
      known.laws = &laws;
      known.earlier = &laws;
      EXPECT_EQ(kinds_of(sample_faults(run, known)), std::set<std::string>{})
          << text_of(sample_faults(run, known));
      Random random(seed, RandomPurpose::test, 99);
      for (int turn = 0; turn < 5; ++turn) {
        KernelLaws other = laws;
        const std::size_t one = random.below(other.laws.size());
        const double factor = between(random, 2.5, 4) / (random.below(2) == 0 ? 1 : 10);
        for (KernelLaw& law : other.laws) {
          if (&law != &other.laws[one] && turn > 0) continue;
          for (double& seconds : law.curve.seconds) seconds *= factor;
          law.fixed_s *= factor;
          law.flop_s *= factor;
          law.byte_s *= factor;
        }
        known.laws = &other;
        known.earlier = nullptr;
        EXPECT_EQ(kinds_of(sample_faults(run, known)), std::set<std::string>{"bad-law"})
            << other.laws[one].key << " " << factor << "\n"
            << text_of(sample_faults(run, known));
        known.laws = nullptr;
        known.earlier = &other;
        EXPECT_EQ(kinds_of(sample_faults(run, known)), std::set<std::string>{"unlike-earlier"})
            << other.laws[one].key << " " << factor << "\n"
            << text_of(sample_faults(run, known));
      }
    }
  }
}

SampleFile measured(const std::string& name) {
  return read_samples(std::string(WINDTUNNEL_SOURCE_DIR) + "/tests/data/" + name);
}

TEST(SampleFaults, RealRunsRaiseNoAlarmWhereNothingIsWrong) {
  for (const char* name : {"kernel_samples.csv", "kernel_samples_again.csv"}) {
    const SampleFile file = measured(name);
    ASSERT_GT(file.runs.size(), 250U);
    EXPECT_TRUE(file.unusable.empty());
    const KernelLaws laws = fit_kernel_laws(file.runs);
    KnownMachine known;
    known.laws = &laws;
    const std::vector<SampleFault> faults = sample_faults(file.runs, known);
    EXPECT_TRUE(faults.empty()) << name << "\n" << text_of(faults);
  }
}

// During the real run compilers ran at the same time, more of them towards the end.
TEST(SampleFaults, ARealRunBesideOthersSaysThatItIsUnsureAndDrifted) {
  const std::vector<SampleFault> faults =
      sample_faults(measured("kernel_samples_loaded.csv").runs, {});
  EXPECT_EQ(kinds_of(faults), (std::set<std::string>{"drift", "unsure"})) << text_of(faults);
  EXPECT_FALSE(any_refused(faults));
}

// Faults are put into a real run, which no model generated.
TEST(SampleFaults, MutationsOfARealRunAreFound) {
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    const Case& test = kCases[i];
    if (!test.host || test.mutate == &cold_faster) continue;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Series run = measured("kernel_samples_again.csv").runs;
      KnownMachine known;
      Random random(seed, RandomPurpose::test, 100 + i);
      test.mutate(run, random, known);
      const std::vector<SampleFault> faults = sample_faults(run, known);
      EXPECT_TRUE(kinds_of(faults).contains(test.kind)) << i << ", seed " << seed << "\n"
                                                        << text_of(faults);
    }
  }
}

// Only a factor of about eight suggests bits instead of bytes. Other deviations may be real and are
// reported as deviations.
TEST(SampleFaults, FarFromTheDataSheetIsNoSlipByItself) {
  for (const auto& [slower, kind, told] : std::vector<std::tuple<double, std::string, std::string>>{
           {8, "bits-for-bytes", ""},
           {20, "below-specification", "a unit is wrong, or the device"},
           {60, "below-specification", "a unit is wrong, or the device"},
           {1000, "swapped-units", ""},
           {1.0 / 8, "bits-for-bytes", ""},
           {1.0 / 18, "above-specification", "a unit is wrong, the timing did not wait"},
           {1e-3, "swapped-units", ""}}) {
    Series run = clean_run(MachineKind::gpu, 1);
    std::erase_if(run, [](const Sample& s) { return !is_single(s) || !is_stream(kernel_of(s)); });
    slow_down(run, slower);
    const std::vector<SampleFault> faults = sample_faults(run, known_of(MachineKind::gpu));
    EXPECT_EQ(kinds_of(faults), std::set<std::string>{kind}) << slower << "\n" << text_of(faults);
    EXPECT_TRUE(any_refused(faults));
    const std::string text = text_of(faults);
    EXPECT_NE(text.find(told), std::string::npos) << slower << "\n" << text;
    EXPECT_EQ(text.find("a unit is wrong") != std::string::npos, !told.empty()) << slower << "\n"
                                                                                << text;
  }
}

TEST(SampleFaults, FarFromOtherKernelsOrFromBeforeIsBitsNearEightOnly) {
  for (const auto& [factor, beside, before] :
       std::vector<std::tuple<double, std::string, std::string>>{
           {8, "bits-for-bytes", "bits-for-bytes"},
           {25, "swapped-units", "unlike-earlier"},
           {80, "swapped-units", "unlike-earlier"},
           {1000, "swapped-units", "swapped-units"}}) {
    Series run = clean_run(MachineKind::host, 1);
    KnownMachine known;
    const KernelLaws laws = fit_kernel_laws(run);
    known.earlier = &laws;
    for (Sample& s : run) {
      if (is_single(s) && kernel_of(s) == "xor") s.work[0][0].bytes *= factor;
    }
    EXPECT_EQ(kinds_of(sample_faults(run, {})), std::set<std::string>{beside}) << factor;
    run = clean_run(MachineKind::host, 1);
    slow_down(run, factor);
    EXPECT_EQ(kinds_of(sample_faults(run, known)), std::set<std::string>{before}) << factor;
  }
}

TEST(SampleFaults, RowsAreNamed) {
  Series run = clean_run(MachineKind::host, 1);
  run[7].ranks_per_device = 2;
  const std::vector<SampleFault> faults = sample_faults(run, {});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].rows, std::vector<std::string>{"run.csv:9"});
  EXPECT_EQ(faults[0].severity, FaultSeverity::refused);
  EXPECT_TRUE(any_refused(faults));
}

}  // namespace
}  // namespace windtunnel
