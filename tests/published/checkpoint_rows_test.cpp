// The rates of processes under torch.save, torchsnapshot and DLRover are fitted to a few published
// times, and predict the other times.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "models/base/quantile.hpp"
#include "validate/accuracy/kinds/checkpoint_accuracy.hpp"

namespace windtunnel {
namespace {

const ValidationReport& published_checkpoints() {
  static const ValidationReport report = validate_checkpoints(
      {read_checkpoint_rows(WINDTUNNEL_SOURCE_DIR "/tests/data/checkpoint_times.csv")});
  return report;
}

const ValidationFamily& checkpoint_family(const std::string& name, const std::string& metric) {
  for (const ValidationFamily& each : published_checkpoints().families) {
    if (each.name == name && each.metric == metric) return each;
  }
  ADD_FAILURE() << "no family " << name;
  static const ValidationFamily none;
  return none;
}

TEST(CheckpointTimes, EveryRowIsJudgedFittedOnOrSkipped) {
  const ValidationReport& report = published_checkpoints();
  EXPECT_EQ(report.rows.size() + report.fitted.size() + report.skipped.size(), 62u);
  EXPECT_EQ(report.fitted.size(), 12u);
}

// For torch.save and torchsnapshot on up to four nodes the bytes and drives are published.
TEST(CheckpointTimes, WhereBytesAndPlaceAreStatedWithin20Percent) {
  int rows = 0;
  for (const ValidationRow& row : published_checkpoints().rows) {
    if (row.family != "torchsnapshot DDP benchmark, drives") continue;
    ++rows;
    EXPECT_LT(row.relative_error(), 0.2) << row.label;
  }
  EXPECT_EQ(rows, 4);
  const ValidationFamily& judged =
      checkpoint_family("torchsnapshot DDP benchmark, drives", "save_s");
  EXPECT_LT(judged.mape, judged.baselines.at("bytes / bandwidth"));
}

// No constant was fitted to these engines; the bytes follow from the source's own slow saves. A run
// on 1,536 GPUs is different: its bytes follow from its parameters, and its prediction is far off.
TEST(CheckpointTimes, DLRoversEnginesBeatBytesOverBandwidth) {
  for (const char* place : {"drives", "memory"}) {
    const std::string name = std::string("DLRover flash checkpoint blog, ") + place;
    std::vector<double> errors;
    for (const ValidationRow& row : published_checkpoints().rows) {
      const bool of_blog = row.family == name && row.metric == "save_s";
      if (of_blog && row.label.find(" 2 GPUs") != std::string::npos) {
        errors.push_back(row.relative_error());
      }
    }
    EXPECT_EQ(errors.size(), place == std::string("drives") ? 5u : 4u);
    EXPECT_LT(median(errors), 0.25) << place;
    const ValidationFamily& saves = checkpoint_family(name, "save_s");
    EXPECT_LT(saves.mape, saves.baselines.at("bytes / bandwidth")) << place;
  }
}

}  // namespace
}  // namespace windtunnel
