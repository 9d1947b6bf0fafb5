#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "models/results/rollout_report.hpp"
#include "report/figures/figures.hpp"
#include "report/figures/shown_studies.hpp"
#include "tests/report/sample_record.hpp"
#include "tests/report/summary/section_row.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

RolloutReport report_of(RolloutMode mode) {
  RolloutReport report;
  report.spec.mode = mode;
  report.spec.nodes = 2;
  report.spec.prompts = 128;
  report.spec.samples = 8;
  report.spec.prompt_length = 1024;
  report.spec.engine.tp = 4;
  report.engines = 4;
  report.actor_gpus = 16;
  report.gpus = 80;
  report.period_s = 100;
  report.generation_s = 60;
  report.training_s = 39;
  report.transfer.seconds = 1;
  report.transfer.bound_s = 0.8;
  report.transfer.model_bytes = 16e9;
  report.actors_idle = 0.45;
  report.learner_idle = 0.6;
  report.running = 20;
  report.slots = 64;
  report.output_tokens = 3000;
  report.samples_per_s = 10.24;
  report.tokens_per_s = 41206;
  return report;
}

Record record_of(const RolloutReport& report) {
  Record record;
  record.studies.set(report);
  return record;
}

SummarySection rollout_section(const Record& record) {
  return shown_rollout().sections(record).front();
}

TEST(RolloutStudy, WhoWaitsForWhom) {
  const SummarySection section = rollout_section(record_of(report_of(RolloutMode::synchronous)));
  EXPECT_EQ(row(section, "loop period"),
            "100 s for 1,024 samples of 3,000 tokens after prompts of 1,024, synchronous");
  EXPECT_EQ(row(section, "pools"), "4 engines of 4 GPUs on 16 GPUs, the learner on 64");
  EXPECT_THAT(row(section, "generation"), HasSubstr("60.0 %"));
  EXPECT_THAT(row(section, "training"), HasSubstr("39.0 %"));
  EXPECT_THAT(row(section, "weights to engines"), HasSubstr("16.0 GB to 4 engines"));
  EXPECT_EQ(row(section, "idle"), "engines 45.0 %, learner 60.0 % of the period");
  EXPECT_THAT(row(section, "rests on"), HasSubstr("assumed"));
  EXPECT_EQ(row(section, "staleness"), "no such row");
  EXPECT_EQ(row(section, "failures"), "no such row");
  EXPECT_EQ(row(section, "cost per sample"), "no such row");
}

TEST(RolloutStudy, WhatOnlySomeHave) {
  RolloutReport report = report_of(RolloutMode::asynchronous);
  report.staleness = 1.5;
  report.returned = 3;
  report.lost_share = 0.01;
  report.away_share = 0.002;
  report.usd_per_sample = 0.04;
  const SummarySection section = rollout_section(record_of(report));
  EXPECT_EQ(row(section, "staleness"), "1.5 versions");
  EXPECT_THAT(row(section, "evicted sequences"), HasSubstr("3.0 sequences of an iteration"));
  EXPECT_THAT(row(section, "failures"), HasSubstr("generate 1.00 % of their tokens again"));
  EXPECT_EQ(row(section, "cost per sample"), "0.04 USD");
  report.spec.colocated = true;
  report.spec.mode = RolloutMode::synchronous;
  report.switch_s = 2;
  const SummarySection colocated = rollout_section(record_of(report));
  EXPECT_THAT(row(colocated, "pools"), HasSubstr("on the learner's 80 GPUs, in turn"));
  EXPECT_THAT(row(colocated, "switching"), HasSubstr("2.0 %"));
  EXPECT_THAT(row(colocated, "idle"), HasSubstr("of the GPUs' time"));
}

// 1 T tokens at 41,206 per second take 280.9 days, in which 248.5 M samples are paid for. A learner
// alone would be done earlier, and without engines to pay for.
TEST(RolloutStudy, AllTokensTakeWhatTheLoopTakes) {
  RolloutReport report = report_of(RolloutMode::synchronous);
  report.usd_per_sample = 0.04;
  Record record = sample_record();
  record.job.tokens = 1e12;
  record.job.price_usd_per_gpu_s = 1;
  record.studies.set(report);
  const SummarySection section = rollout_section(record);
  EXPECT_EQ(row(section, "time for all tokens"), "281 d");
  EXPECT_EQ(row(section, "cost of all tokens"), "9.94 M USD");
  EXPECT_EQ(figure("campaign.job.days").text(record), "");
  EXPECT_EQ(figure("campaign.job.cost_usd").text(record), "");
  record.campaign.reset();
  EXPECT_EQ(figure("job.days").text(record), "");
  EXPECT_EQ(figure("job.cost_usd").text(record), "");
  record.job.steps = 1000;  // the samples per step are unknown
  EXPECT_EQ(row(rollout_section(record), "time for all tokens"), "no such row");
  EXPECT_EQ(figure("job.days").text(record), "");
}

TEST(RolloutStudy, StandBelowRolloutAndSayNothingWithoutEngines) {
  const Record none;
  std::set<std::string> keys;
  for (const Figure& each : shown_rollout().figures()) {
    EXPECT_TRUE(each.key.starts_with("rollout.")) << each.key;
    EXPECT_TRUE(keys.insert(each.key).second) << each.key;
    EXPECT_TRUE(std::holds_alternative<std::monostate>(each.of(none))) << each.key;
    EXPECT_FALSE(each.help.empty());
  }
  EXPECT_GT(keys.size(), 12u);
  const Record record = record_of(report_of(RolloutMode::synchronous));
  EXPECT_EQ(number_of(figure("rollout.period_s").of(record)), 100);
  EXPECT_EQ(number_of(figure("rollout.transfer_s").of(record)), 1);
}

}  // namespace
}  // namespace windtunnel
