#include "report/console/console.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "report/figures/figure_text.hpp"
#include "report/summary/campaign_summary.hpp"
#include "report/summary/comparison_columns.hpp"
#include "report/text/table.hpp"
#include "scenarios/language/text/choices.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

TEST(Summary, SeparatesThousands) {
  EXPECT_EQ(with_separators(999), "999");
  EXPECT_EQ(with_separators(16384), "16,384");
  EXPECT_EQ(with_separators(1234567.4), "1,234,567");
  EXPECT_EQ(with_separators(-1000), "-1,000");
}

TEST(Summary, SaysWhatWasSimulatedAndWhereTimeWent) {
  const std::string text = answer_text(summarise(sample_record()));
  for (const char* line :
       {"sample\nllama3-405b on 16,384 h100 GPUs (2,048 x dgx-h100); tp 8 x pp 4 x dp 128, ZeRO-1; "
        "gpipe; bf16; overlap none; no compressor; batch 2,048 x 8,192 tokens\n",
        "MFU 41.7 %, HFU 43.0 %", "backward       50.0 %", "93.0 %  (92.9 % .. 93.1 %)",
        "host-memory 18.0 %, storage 82.0 %", "node 358.0, planned 47.0, unexpected 419.0",
        "measured 0.0 %, published 50.0 %, spec 25.0 %, assumed 25.0 %"}) {
    EXPECT_NE(text.find(line), std::string::npos) << "missing: " << line << "\nin:\n" << text;
  }
  EXPECT_EQ(text.find("recompute"), std::string::npos) << "a share of 0 is no news";
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "colour without a terminal";
}

TEST(Summary, OneRowPerTierAndNoColumnWithoutANumber) {
  Record record = sample_record();
  std::string text = answer_text(summarise(record));
  for (const char* line :
       {"every  saving time   stall  overhead  loading time  rebuild  moved/GPU  sent/GPU",
        "peers    ", "99.975 %", "failed again   20.5 restarts"}) {
    EXPECT_NE(text.find(line), std::string::npos) << "missing: " << line << "\nin:\n" << text;
  }
  record.campaign->tiers.erase(record.campaign->tiers.begin());
  text = answer_text(summarise(record));
  EXPECT_NE(text.find("saving time"), std::string::npos) << text;
  EXPECT_EQ(text.find("rebuild"), std::string::npos) << text;
  EXPECT_EQ(text.find("host/node"), std::string::npos) << text;
}

TEST(Summary, LayoutsWithoutASpareHaveARow) {
  Record record = sample_record();
  EXPECT_EQ(answer_text(summarise(record)).find("Layouts without a spare"), std::string::npos);
  record.campaign->relaid = {{3, 2, 1, 3, 0.5}, {2, 2, 2, 1, 0.75}};
  const std::string text = answer_text(summarise(record));
  for (const char* line : {"Layouts without a spare", "    3  tp 2 x pp 1 x dp 3     500 ms",
                           "    2  tp 2 x pp 2 x dp 1     750 ms"}) {
    EXPECT_NE(text.find(line), std::string::npos) << "missing: " << line << "\nin:\n" << text;
  }
}

TEST(Summary, FormulaBesideSimulationForEveryIntervalThatWasSimulated) {
  Record record = sample_record();
  const std::string text = answer_text(summarise(record));
  for (const char* part : {"How often to save: storage", "configured", "Young", "Daly",
                           "exact exponential", "best simulated", "stalls training for 27.0 s",
                           "Young's formula loses 0.05 points of goodput against the best "
                           "simulated, the exact formula 0.06"}) {
    EXPECT_NE(text.find(part), std::string::npos) << "missing: " << part << "\nin:\n" << text;
  }
  const IntervalReport& interval = *record.campaign->interval;
  EXPECT_EQ(point_at(interval, 763)->every_s, 763);
  EXPECT_EQ(point_at(interval, 766)->every_s, 763);
  EXPECT_EQ(point_at({}, 800), nullptr);
  record.campaign->interval.reset();
  EXPECT_EQ(answer_text(summarise(record)).find("How often"), std::string::npos);
}

TEST(Summary, NamesEveryPrecision) {
  Record record = sample_record();
  for (const Choice<Precision>& precision : kChoices<Precision>) {
    record.job.precision = precision.value;
    const std::string text = answer_text(summarise(record));
    EXPECT_NE(text.find(fmt::format("; gpipe; {}; ", precision.name)), std::string::npos) << text;
  }
}

TEST(Summary, NamesExpertParallelismAndShards) {
  EXPECT_EQ(layout_text({}), "one GPU");
  EXPECT_EQ(layout_text({.tp = 2, .dp = 8, .ep = 4}), "tp 2 x dp 8, ep 4");
  EXPECT_EQ(layout_text({.dp = 8, .sharding = Sharding::zero2}), "dp 8, ZeRO-2");
  EXPECT_EQ(layout_text({.dp = 8, .sharding = Sharding::zero3, .shard_ranks = 4}),
            "dp 8, ZeRO-3 over 4 ranks");
}

TEST(Summary, WithoutCampaignSaysNothingOfIt) {
  const std::string text = answer_text(summarise(sample_record({.campaign = false})));
  EXPECT_EQ(text.find("Campaign"), std::string::npos);
  EXPECT_EQ(text.find("goodput"), std::string::npos);
}

TEST(Summary, SaysWhenSnapshotsOrTheJobDoNotKeepUp) {
  Record record = sample_record();
  record.campaign->skipped_snapshots["storage"].mean = 12;
  record.campaign->job_days.mean = std::numeric_limits<double>::infinity();
  record.campaign->job_cost_usd.mean = std::numeric_limits<double>::infinity();
  const std::string text = answer_text(summarise(record));
  EXPECT_NE(text.find("12.0 snapshots to storage"), std::string::npos) << text;
  EXPECT_NE(text.find("never"), std::string::npos) << text;
  EXPECT_EQ(text.find(" inf"), std::string::npos) << text;
}

TEST(Summary, SaysNothingOfUnknownDaysAndCost) {
  const auto mentions = [](const Record& record) {
    const Answer summary = summarise(record);
    std::vector<std::string> labels;
    for (const SummaryRow& figure : summary.figures) labels.push_back(figure.label);
    for (const SummarySection& section : summary.sections) {
      for (const SummaryRow& row : section.rows) labels.push_back(row.label);
    }
    return std::count_if(labels.begin(), labels.end(), [](const std::string& label) {
      return label == "time to train" || label == "cost";
    });
  };
  Record record = sample_record();
  EXPECT_EQ(mentions(record), 4);
  record.campaign->job_cost_usd = {};
  EXPECT_EQ(mentions(record), 2);
  record.campaign->job_days = {};
  EXPECT_EQ(mentions(record), 0);
}

std::string interval_text(const SpeedUp& speed_up) {
  return fmt::format("({:.2f}x .. {:.2f}x)", speed_up.low, speed_up.high);
}

TEST(Compare, SortsByTimeAgainstTheFirstFeasiblePoint) {
  Record slow = sample_record();
  Record fast = sample_record();
  slow.iteration.time_s = 8;
  fast.iteration.time_s = 4;
  Comparison comparison;
  comparison.points.push_back({{{"pp", "1"}}, std::nullopt, "does not fit"});
  comparison.points.push_back({{{"pp", "2"}}, slow, ""});
  comparison.points.push_back({{{"pp", "4"}}, fast, ""});
  const std::string interval = interval_text(*judged_speed_up(comparison, comparison.points[2]));
  EXPECT_FALSE(judged_speed_up(comparison, comparison.points[1]));
  const SummaryRow ahead = certainty_rows(comparison, "").back();
  EXPECT_TRUE(ahead.value.starts_with("4 is faster than 2 with a chance of 9")) << ahead.value;
  EXPECT_EQ(
      answer_text(compare_answer(comparison)),
      "pp  step time                 speed-up     MFU    idle  peak memory               time "
      "to train                                    cost                     goodput\n"
      "4      4.00 s  2.000x " +
          interval +
          "  41.7 %  25.0 %     62.9 GiB  77.5 d "
          " (77.1 d .. 77.9 d)  61.0 M USD  (60.7 M USD .. 61.3 M USD)  93.0 % "
          " (92.9 % .. 93.1 %)\n"
          "2      8.00 s                   1.000x  41.7 %  25.0 %     62.9 GiB  77.5 d "
          " (77.1 d .. 77.9 d)  61.0 M USD  (60.7 M USD .. 61.3 M USD)  93.0 % "
          " (92.9 % .. 93.1 %)\n"
          "\n"
          "Where the step time goes (critical path)\n"
          "  point  forward  backward  optimizer       tp       pp       dp     wait  step"
          " time\n"
          "  2      84.0 ms    168 ms    21.0 ms  21.0 ms  21.0 ms  10.5 ms  10.5 ms     8.00"
          " s\n"
          "  4      84.0 ms    168 ms    21.0 ms  21.0 ms  21.0 ms  10.5 ms  10.5 ms     4.00"
          " s\n"
          "\n"
          "How sure this is\n"
          "  in brackets  95 % interval of the mean over 100 trials\n"
          "  speed-ups    " +
          ahead.value +
          "\n"
          "\n"
          "Infeasible\n"
          "  pp=1         does not fit\n");
}

TEST(Compare, WhatDoesNotFitStandsLastAndIsMarked) {
  Record large = sample_record({.campaign = false});
  Record fits = large;
  large.iteration.time_s = 4;
  large.memory_excess = "pipeline rank 0 needs more";
  fits.iteration.time_s = 8;
  Comparison comparison;
  comparison.points.push_back({{{"pp", "2"}}, large, ""});
  comparison.points.push_back({{{"pp", "4"}}, fits, ""});
  const std::string interval = interval_text(*judged_speed_up(comparison, comparison.points[1]));
  EXPECT_EQ(answer_text(compare_answer(comparison)),
            "pp  step time                 speed-up     MFU    idle  peak memory  fits\n"
            "4      8.00 s  0.500x " +
                interval +
                "  41.7 %  25.0 %     62.9 GiB   yes\n"
                "2      4.00 s                   1.000x  41.7 %  25.0 %     62.9 GiB    no\n"
                "\n"
                "Where the step time goes (critical path)\n"
                "  point  forward  backward  optimizer       tp       pp       dp     wait  step"
                " time\n"
                "  2      84.0 ms    168 ms    21.0 ms  21.0 ms  21.0 ms  10.5 ms  10.5 ms     4.00"
                " s\n"
                "  4      84.0 ms    168 ms    21.0 ms  21.0 ms  21.0 ms  10.5 ms  10.5 ms     8.00"
                " s\n");
}

// Schemes are compared by what they survive: storage alone, a copy in the node, and a code in a
// group.
TEST(Compare, ProtectionIsComparedByGoodputAndItsBestCopy) {
  const auto scheme = [](double goodput, std::vector<TierReport> tiers) {
    Record record = sample_record();
    record.campaign->goodput = {.mean = goodput, .low = goodput - 0.01, .high = goodput + 0.01};
    record.campaign->tiers = std::move(tiers);
    return record;
  };
  const Record sample = sample_record();
  const TierReport& peers = sample.campaign->tiers[0];
  const TierReport& storage = sample.campaign->tiers[1];
  TierReport host = peers;
  host.name = "host-memory";
  host.saving_s = 3;
  host.survival_7d = 0.02;
  Comparison comparison;
  comparison.points.push_back({{{"snapshots", "sync"}}, scheme(0.8, {storage}), ""});
  comparison.points.push_back({{{"snapshots", "smp"}}, scheme(0.85, {host, storage}), ""});
  comparison.points.push_back({{{"snapshots", "reft"}}, scheme(0.93, {host, peers, storage}), ""});
  EXPECT_EQ(
      answer_text(compare_answer(comparison)),
      "snapshots         copy     every  saving time  loading time  snapshot overhead "
      " survival 7 d  host memory               time to train                             "
      "       cost                     goodput\n"
      "reft             peers    60.0 s       12.5 s        1.50 s             1.25 %     "
      " 99.975 %       240 GB  77.5 d  (77.1 d .. 77.9 d)  61.0 M USD  (60.7 M USD .. 61.3"
      " M USD)  93.0 %  (92.0 % .. 94.0 %)\n"
      "smp        host-memory    60.0 s       3.00 s        1.50 s             1.00 %     "
      "    2.0 %       120 GB  77.5 d  (77.1 d .. 77.9 d)  61.0 M USD  (60.7 M USD .. 61.3"
      " M USD)  85.0 %  (84.0 % .. 86.0 %)\n"
      "sync           storage  60.0 min       95.0 s        42.0 s             0.75 %     "
      "  100.0 %          0 B  77.5 d  (77.1 d .. 77.9 d)  61.0 M USD  (60.7 M USD .. 61.3"
      " M USD)  80.0 %  (79.0 % .. 81.0 %)\n"
      "\n"
      "How sure this is\n"
      "  in brackets  95 % interval of the mean over 100 trials\n"
      "  chance       these trials do not separate reft, which has the most goodput, from sync"
      " (0.00 points less, 0.00 .. 0.00); smp (0.00 points less, 0.00 .. 0.00); more"
      " trials may (campaign.replicas)\n");
}

TEST(Compare, ProtectionBesideOtherKeysKeepsTheColumnsOfTheIteration) {
  Comparison comparison;
  comparison.points.push_back(
      {{{"layout.pp", "4"}, {"snapshots.0.every", "1 h"}}, sample_record(), ""});
  const std::string text = answer_text(compare_answer(comparison));
  for (const char* title : {"speed-up", "MFU", "survival 7 d", "goodput"}) {
    EXPECT_NE(text.find(title), std::string::npos) << title;
  }
}

// The error is printed once if it is the same for all points, otherwise for each. Points may have
// different numbers of trials.
TEST(Compare, TellsTheErrorOfTheCostModels) {
  Comparison comparison;
  comparison.points.assign(2, {{{"pp", "4"}}, sample_record(), ""});
  for (ComparedPoint& point : comparison.points) {
    point.record->job.calibration.name = "measured";
    point.record->job.calibration.step_error.value = 0.1;
    point.record->iteration.error = point.record->job.calibration.step_error;
  }
  const std::string told = "step times predicted with calibration measured are off by 10.0 %";
  const std::string one = answer_text(compare_answer(comparison));
  EXPECT_NE(one.find("cost models  " + told), std::string::npos) << one;
  EXPECT_EQ(one.find(told), one.rfind(told)) << one;
  comparison.points[1].record->job.calibration.name = "guessed";
  comparison.points[1].set = {{"pp", "8"}};
  comparison.points[1].record->campaign->trials = 20;
  const std::string two = answer_text(compare_answer(comparison));
  for (const char* part :
       {"4: step times predicted with calibration measured are off",
        "8: step times predicted with calibration guessed are off", "over 20 or 100 trials"}) {
    EXPECT_NE(two.find(part), std::string::npos) << two;
  }
}

TEST(Compare, AllInfeasible) {
  Comparison comparison;
  comparison.points.push_back({{{"pp", "1"}}, std::nullopt, "no"});
  EXPECT_EQ(answer_text(compare_answer(comparison)), "Infeasible\n  pp=1  no\n");
}

TEST(Explain, MarksDefaults) {
  const std::string text =
      table_text(explain_table({{"fold", "auto", true, Origin::assumed, "default"},
                                {"batch.micro", "1", false, Origin::spec, "scenario"}}));
  EXPECT_NE(text.find("fold         auto   default   assumed  default\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("batch.micro  1      scenario  spec"), std::string::npos) << text;
}

}  // namespace
}  // namespace windtunnel
