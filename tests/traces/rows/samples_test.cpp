#include "traces/rows/samples.hpp"

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

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
  sample.disturbed = 0.25;
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
  EXPECT_EQ(file.runs[0].disturbed, 0.25);
}

TEST(Samples, FilesOfOneRankMayLackTheColumnsOfRanks) {
  std::string text = samples_header() + sample_row(a_sample());
  text = replaced(text, ",ranks_per_device,ranks,disturbed\n", "\n");
  text = replaced(text, ",2,4,0.25\n", "\n");
  const SampleFile file = parse_samples(text, "s.csv");
  ASSERT_EQ(file.runs.size(), 1U);
  EXPECT_EQ(file.runs[0].ranks, 1);
  EXPECT_EQ(file.runs[0].ranks_per_device, 1);
  EXPECT_EQ(file.runs[0].disturbed, 0);
}

// Each faulty cell is reported with its fault and place.
TEST(Samples, FaultyRowsAreNamedAndTheOthersKept) {
  const std::string row = sample_row(a_sample());
  struct Bad {
    const char* from;
    const char* to;
    const char* reason;
  };
  for (const Bad& bad : std::vector<Bad>{
           {"quantise-int8", "quantize-int8",
            "column 'work': no kernel 'quantize-int8'; did you mean 'quantise-int8'?"},
           {"elements=1024", "elements=1024x",
            "column 'work': 'elements=1024x': expected a number of at least 1 after '='"},
           {"elements=1024",
            "elements=", "column 'work': 'elements=': expected a number of at least 1 after '='"},
           {"elements=1024", "bytes=1024",
            "column 'work': 'bytes=1024': quantise-int8 takes elements"},
           {"judge", "judg",
            "column 'role': 'judg' is none of fit, judge, again; did you mean 'judge'?"},
           {"cold", "", "column 'cache': '' is none of warm, cold"},
           {"1.25e-05", "fast", "column 'median_s': 'fast' is not a number (seconds)"},
           {"1.25e-05", "12.5us",
            "column 'median_s': '12.5us' has text after the number; expected only the number "
            "(seconds)"},
           {"1.25e-05", "nan", "column 'median_s': nan is not a finite number"},
           {"1.25e-05", "inf", "column 'median_s': inf is more than 1e+06 (seconds)"},
           {"1.25e-05", "-1e-5", "column 'median_s': -1e-5 is not greater than 0"},
           {"1.25e-05", "0", "column 'median_s': 0 is not greater than 0"},
           {"1.25e-05", "", "column 'median_s': is empty"},
           {"1.25e-05", "1.5", "column 'median_s': is outside of its interval"},
           {",30,", ",30.5,", "column 'repeats': 30.5 is not a whole number"},
           {",0,1,2", ",0,maybe,2",
            "column 'throttled_after': 'maybe' is neither 1 (or true) nor 0 (or false)"},
           {"0.5", "soon", "column 'started_s': 'soon' is not a number (seconds)"},
           {",2,4,0.25", ",2,0,0.25", "column 'ranks': "},
           {",2,4,0.25", ",2,4,2", "column 'disturbed': "},
       }) {
    const SampleFile file =
        parse_samples(samples_header() + row + replaced(row, bad.from, bad.to), "s.csv");
    EXPECT_EQ(file.runs.size(), 1U) << bad.to;
    ASSERT_EQ(file.unusable.size(), 1U) << bad.to;
    EXPECT_TRUE(file.unusable[0].id.starts_with("s.csv:3")) << file.unusable[0].id;
    EXPECT_EQ(file.unusable[0].reason.substr(0, std::string(bad.reason).size()), bad.reason);
  }
}

std::string message_of(const std::string& text) {
  return error_of([&] { parse_samples(text, "s.csv"); });
}

TEST(Samples, MessagesOfFilesThatAreNone) {
  EXPECT_EQ(message_of(""), "s.csv:1:1: the file is empty");
  EXPECT_EQ(message_of("\n\n"), "s.csv:1:1: the file is empty");
  // This is another tool's file.
  EXPECT_EQ(message_of("name,iterations,real_time\ncopy,10,3\n"),
            "s.csv:1:1: is not a file of samples: columns work, role, cache and 20 others are "
            "missing; windtunnel calibrate --backend writes such files");
  const std::string without = message_of(replaced(samples_header(), "median_s,", ""));
  EXPECT_EQ(without.substr(0, 61), "s.csv:1:1: column median_s is missing; the file has work, rol");
  EXPECT_NE(message_of(replaced(samples_header(), "median_s", "median_ms")).find("median_ms"),
            std::string::npos);
  EXPECT_EQ(message_of(replaced(samples_header(), "low_s", "median_s")),
            "s.csv:1:5: column 'median_s' is in the header twice");
  EXPECT_THROW(read_samples("/nowhere/s.csv"), Error);
}

TEST(Samples, ARowThatWasCutOffIsNamedAndTheOthersKept) {
  const std::string row = sample_row(a_sample());
  const std::string text = samples_header() + row;
  for (const size_t cut : {row.size() / 4, row.size() / 2, row.size() - 12}) {
    const SampleFile file = parse_samples(text + row.substr(0, cut), "s.csv");
    EXPECT_EQ(file.runs.size(), 1U) << cut;
    ASSERT_EQ(file.unusable.size(), 1U) << cut;
    EXPECT_TRUE(file.unusable[0].id.starts_with("s.csv:3")) << file.unusable[0].id;
  }
}

}  // namespace
}  // namespace windtunnel
