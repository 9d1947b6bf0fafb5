#include "validate/accuracy/runs/run_pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace windtunnel {
namespace {

const MeasuredPairs* find_kind(const std::vector<MeasuredPairs>& all, const std::string& name) {
  for (const MeasuredPairs& each : all) {
    if (each.differs == name) return &each;
  }
  return nullptr;
}

// Publishers measure jobs in four layouts. Every prediction of a publisher is off by a common
// factor of its own, which cancels in a ratio, and by a random error of each row.
std::vector<PairedRun> layouts(int publishers, double common, double own) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<PairedRun> runs;
  for (int publisher = 0; publisher < publishers; ++publisher) {
    const double off = common * normal(random);
    for (const char* tp : {"1", "2", "4", "8"}) {
      for (const char* micro : {"1", "2"}) {
        const double measured_s = std::exp(0.3 * normal(random));
        runs.push_back({"source" + std::string(1, static_cast<char>('a' + publisher)),
                        {{"layout.tp", tp}, {"batch.micro", micro}, {"model.layers", "12"}},
                        measured_s * std::exp(off + own * normal(random)),
                        measured_s});
      }
    }
  }
  return runs;
}

TEST(RunPairs, CommonErrorsCancelInARatio) {
  const std::vector<MeasuredPairs> judged = judge_pairs(layouts(12, 0.3, 0.05));
  ASSERT_EQ(judged.size(), 1u);  // no pair differs in anything else
  EXPECT_EQ(judged[0].differs, "layout");
  EXPECT_EQ(judged[0].pairs, 12 * 8 * 7 / 2);
  EXPECT_EQ(judged[0].sources, 12);
  EXPECT_NEAR(judged[0].spread, 0.3 * std::sqrt(2.0), 0.06);
  // The interval of a ratio near 1 holds nine tenths of normal errors of 0.05 * sqrt(2).
  const double reach = std::log(speed_up_of(1, judged[0]).high);
  EXPECT_NEAR(reach, 1.645 * 0.05 * std::sqrt(2.0), 0.02);
}

TEST(RunPairs, KindsAreToldByTheKeysThatDiffer) {
  std::vector<PairedRun> runs = layouts(3, 0, 0.05);
  const size_t count = runs.size();
  for (size_t i = 0; i < count; ++i) {
    runs.push_back(runs[i]);
    runs.back().keys["precision"] = "fp8";
    runs.push_back(runs[i]);
    runs.back().keys["precision"] = "fp8";
    runs.back().keys["software.cuda_graphs"] = "true";
  }
  const std::vector<MeasuredPairs> judged = judge_pairs(runs);
  const MeasuredPairs* precision = find_kind(judged, "precision");
  ASSERT_NE(precision, nullptr);
  // Eight layouts in bf16 with eight in fp8, whether the layout differs or not.
  EXPECT_EQ(precision->pairs, 3 * 8 * 8);
  EXPECT_EQ(find_kind(judged, "software")->pairs, 3 * 8 * 8);
  EXPECT_EQ(find_kind(judged, "several of these")->pairs, 3 * 8 * 8);
  EXPECT_EQ(find_kind(judged, "network"), nullptr);
}

TEST(RunPairs, OnePublisherSaysNothingOfOthers) {
  EXPECT_TRUE(judge_pairs(layouts(1, 0, 0.05)).empty());
}

}  // namespace
}  // namespace windtunnel
