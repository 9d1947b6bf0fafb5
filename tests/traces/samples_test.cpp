#include "traces/samples.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

Sample a_sample() {
  Sample sample;
  sample.work = parse_kernel_steps("quantise-int8 elements=1024 > copy bytes=2048");
  sample.role = SampleRole::judge;
  sample.cache = CacheState::cold;
  sample.median_s = 1.25e-5;
  sample.low_s = 1.2e-5;
  sample.high_s = 1.0 / 3e4;
  sample.p05_s = 1.1e-5;
  sample.p95_s = 1.4e-4;
  sample.repeats = 30;
  sample.order = 7;
  sample.started_s = 0.5;
  sample.before = {1.98e9, 2.6e9, 41, false};
  sample.after = {1.97e9, 2.6e9, 43, true};
  sample.backend = "cuda";
  sample.device = "H200, \"141 GB\"";
  sample.driver = "580.1";
  sample.date = "2026-11-22";
  sample.ranks_per_device = 2;
  sample.ranks = 4;
  return sample;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Samples, ARowReadsBackAsTheSame) {
  const Sample sample = a_sample();
  const std::string row = sample_row(sample);
  const SampleFile file = parse_samples(samples_header() + row, "s.csv");
  ASSERT_EQ(file.runs.size(), 1U);
  EXPECT_TRUE(file.unusable.empty());
  EXPECT_EQ(sample_row(file.runs[0]), row);
  EXPECT_EQ(file.runs[0].device, sample.device);
  EXPECT_EQ(file.runs[0].high_s, sample.high_s);
  EXPECT_TRUE(file.runs[0].after.throttled);
  EXPECT_EQ(file.runs[0].id, "s.csv:2");
  EXPECT_EQ(file.runs[0].ranks, 4);
}

TEST(Samples, FilesOfOneRankMayLackTheColumnsOfRanks) {
  std::string text = samples_header() + sample_row(a_sample());
  text = replaced(text, ",ranks_per_device,ranks\n", "\n");
  text = replaced(text, ",2,4\n", "\n");
  const SampleFile file = parse_samples(text, "s.csv");
  ASSERT_EQ(file.runs.size(), 1U);
  EXPECT_EQ(file.runs[0].ranks, 1);
  EXPECT_EQ(file.runs[0].ranks_per_device, 1);
}

TEST(Samples, FaultyRowsAreNamedAndTheOthersKept) {
  const std::string row = sample_row(a_sample());
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"quantise-int8", "quantise-int9"},
           {"judge", "jury"},
           {"cold", "frozen"},
           {"1.25e-05", "-1"},
           {"1.25e-05", ""},
           {"1.25e-05", "1"},
           {",30,", ",30.5,"},
           {"0.5", "soon"},
           {",2,4\n", ",2,0\n"},
       }) {
    const SampleFile file =
        parse_samples(samples_header() + replaced(row, from, to) + row, "s.csv");
    EXPECT_EQ(file.runs.size(), 1U) << to;
    ASSERT_EQ(file.unusable.size(), 1U) << to;
    EXPECT_EQ(file.unusable[0].id, "s.csv:2");
    EXPECT_NE(file.unusable[0].reason.find("column '"), std::string::npos) << to;
  }
}

TEST(Samples, AFileWithoutTheColumnsIsRefused) {
  EXPECT_THROW(parse_samples("work,role\n", "s.csv"), Error);
  EXPECT_THROW(read_samples("/nowhere/s.csv"), Error);
}

}  // namespace
}  // namespace windtunnel
