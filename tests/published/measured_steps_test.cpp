// Compares training steps of plain PyTorch on one H200 and on one H100
// (validate/harness/pytorch/measure_steps.py) with predictions. One constant was fitted to them,
// Software::host_shard_s. The bounds are coarser than the errors in
// docs/results/validation-h200.md, so that the tests fail when a law breaks, and not when one
// improves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "validate/accuracy/runs/runs.hpp"

namespace windtunnel {
namespace {

ValidationReport report_of(const std::string& file) {
  const std::string path = WINDTUNNEL_SOURCE_DIR "/tests/data/" + file;
  return validate_runs({read_training_runs(path)}, closed_predictor(), {});
}

const ValidationReport& report() {
  static const ValidationReport found = report_of("pytorch_steps_h200.csv");
  return found;
}

std::vector<double> errors(const std::string& metric, const std::string& family,
                           const ValidationReport& of = report()) {
  std::vector<double> found;
  for (const ValidationRow& row : of.rows) {
    if (row.metric != metric || row.family.find(family) == std::string::npos) continue;
    found.push_back(std::abs(row.predicted / row.measured - 1));
  }
  std::ranges::sort(found);
  return found;
}

double median(const std::vector<double>& sorted) {
  return sorted.at(sorted.size() / 2);
}

TEST(MeasuredSteps, AllArePredicted) {
  EXPECT_TRUE(report().skipped.empty());
  EXPECT_EQ(errors("step_s", "pure bf16").size(), 31U);
  EXPECT_EQ(errors("step_s", "FSDP2").size(), 23U);
}

TEST(MeasuredSteps, MemoryIsCounted) {
  for (const char* family : {"pure bf16", "FSDP2"}) {
    const std::vector<double> found = errors("memory_bytes", family);
    EXPECT_LT(median(found), 0.06) << family;
    EXPECT_LT(found.back(), 0.2) << family;
  }
}

TEST(MeasuredSteps, StepsAreNearer) {
  for (const char* family : {"pure bf16", "FSDP2"}) {
    EXPECT_LT(median(errors("step_s", family)), 0.06) << family;
  }
}

// These steps were measured after laws and constants were fixed.
TEST(MeasuredSteps, UnseenShapesToo) {
  const ValidationReport unseen = report_of("pytorch_steps_unseen_h200.csv");
  EXPECT_TRUE(unseen.skipped.empty());
  const std::vector<double> steps = errors("step_s", "", unseen);
  const std::vector<double> memory = errors("memory_bytes", "", unseen);
  EXPECT_EQ(steps.size(), 27U);
  EXPECT_LT(median(steps), 0.05);
  EXPECT_LT(steps.back(), 0.12);
  EXPECT_LT(median(memory), 0.05);
  EXPECT_LT(memory.back(), 0.15);
}

// Constants come from published jobs, except Calibration::kernel_alone.
TEST(MeasuredSteps, AnotherCardToo) {
  const ValidationReport h100 = report_of("pytorch_steps_h100.csv");
  EXPECT_TRUE(h100.skipped.empty());
  const std::vector<double> steps = errors("step_s", "", h100);
  EXPECT_EQ(steps.size(), 44U);
  EXPECT_LT(median(steps), 0.13);
  EXPECT_LT(median(errors("memory_bytes", "", h100)), 0.04);
  int held = 0;
  for (const ValidationRow& row : h100.rows) {
    held += row.metric == "step_s" && row.low <= row.measured && row.measured <= row.high;
  }
  EXPECT_GE(held, 40);
}

TEST(MeasuredSteps, IntervalsHoldHostBoundSteps) {
  int rows = 0, covered = 0;
  for (const ValidationRow& row : report().rows) {
    const bool small =
        row.label.starts_with("Llama-like") && row.label.find("wide") == std::string::npos;
    if (row.metric != "step_s" || !small) continue;
    ++rows;
    covered += row.low <= row.measured && row.measured <= row.high;
  }
  EXPECT_EQ(rows, 19);
  EXPECT_GE(covered, 12);
}

}  // namespace
}  // namespace windtunnel
