#include "report/json/json.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

using Keys = std::vector<std::string>;

TEST(RunDocument, KeysAndTheirOrderAreTheContract) {
  const Json run = run_document(sample_record(), true);
  EXPECT_EQ(keys_of(run), (Keys{"scenario", "key", "version", "commit", "iteration", "campaign",
                                "origin", "model_error", "engine", "model", "notes", "timing"}));
  EXPECT_EQ(keys_of(run["model_error"]),
            (Keys{"calibration", "step_error", "covered", "host_spread", "familiarity", "ranges"}));
  EXPECT_EQ(keys_of(run["iteration"]), (Keys{"time_s", "tflops_per_gpu", "mfu", "mfu_causal", "hfu",
                                             "hfu_causal", "tokens_per_s", "bubble", "exposed_s",
                                             "memory_bytes", "critical_path_s", "mfu_counts"}));
  EXPECT_EQ(keys_of(run["iteration"]["bubble"]),
            (Keys{"makespan", "makespan_share", "longest_stage", "longest_stage_share", "idle"}));
  EXPECT_EQ(keys_of(run["iteration"]["exposed_s"]),
            (Keys{"tp", "cp", "pp", "ep", "dp", "snapshot"}));
  EXPECT_EQ(keys_of(run["iteration"]["memory_bytes"]),
            (Keys{"peak", "fits", "per_stage", "allocated_per_stage", "reserved_per_stage",
                  "activation_peaks"}));
  EXPECT_EQ(keys_of(run["campaign"]), (Keys{"goodput",
                                            "ettr",
                                            "wall_s",
                                            "useful_s",
                                            "job",
                                            "failures",
                                            "lost_s",
                                            "survival",
                                            "skipped_snapshots",
                                            "sizes",
                                            "nodes_down",
                                            "failed_restarts",
                                            "evicted_nodes",
                                            "islands_lost",
                                            "lost",
                                            "copy",
                                            "snapshots",
                                            "tiers",
                                            "interval",
                                            "other_intervals"}));
  EXPECT_EQ(keys_of(run["campaign"]["tiers"][0]),
            (Keys{"name", "every_s", "saving_s", "stall_s", "overhead", "restore_s", "rebuild_s",
                  "moved_bytes", "wire_bytes", "host_bytes", "survival_7d"}));
  EXPECT_EQ(keys_of(run["campaign"]["interval"]),
            (Keys{"tier", "mtbf_s", "cost_s", "restart_s", "storage_s", "configured_s", "young_s",
                  "daly_s", "exact_s", "best_s", "shortest_s", "longest_s", "formula_goodput",
                  "rsc_ettr", "best_goodput", "young_regret", "exact_regret", "points"}));
  EXPECT_EQ(keys_of(run["campaign"]["interval"]["points"][0]),
            (Keys{"every_s", "expected", "goodput"}));
  EXPECT_EQ(keys_of(run["campaign"]["goodput"]), (Keys{"mean", "low", "high", "p05", "p95"}));
  EXPECT_EQ(keys_of(run["campaign"]["job"]), (Keys{"days", "cost_usd"}));
  EXPECT_EQ(
      keys_of(run["campaign"]["lost_s"]),
      (Keys{"stall", "redo", "detect", "restart", "degraded", "wait", "sync", "evaluate", "log"}));
  EXPECT_EQ(keys_of(run["origin"]), (Keys{"measured", "published", "spec", "assumed"}));
  EXPECT_EQ(keys_of(run["engine"]), (Keys{"events", "ranks_simulated", "ranks"}));
  EXPECT_EQ(keys_of(run["timing"]), (Keys{"wall_s", "peak_rss_bytes"}));
}

TEST(RunDocument, ValuesAreThoseOfTheRecord) {
  Record record = sample_record();
  for (GpuMemory& rank : record.iteration.memory) rank.fragmentation = 1e9;
  const Json run = run_document(record, false);
  EXPECT_EQ(run["iteration"]["time_s"], record.iteration.time_s);
  EXPECT_EQ(run["iteration"]["memory_bytes"]["peak"], record.iteration.memory[0].total());
  const Json& memory = run["iteration"]["memory_bytes"];
  ASSERT_EQ(memory["per_stage"].size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const GpuMemory& rank = record.iteration.memory[i];
    EXPECT_EQ(memory["allocated_per_stage"][i], rank.allocated());
    EXPECT_EQ(memory["reserved_per_stage"][i], rank.allocated() + 1e9);
    EXPECT_EQ(memory["per_stage"][i], rank.total());
  }
  EXPECT_EQ(run["iteration"]["exposed_s"]["tp"],
            record.iteration.critical_path_s[static_cast<size_t>(Category::tp)]);
  EXPECT_EQ(run["campaign"]["failures"]["unexpected"]["mean"], 419);
  EXPECT_EQ(run["campaign"]["survival"]["storage"]["mean"], 0.82);
  EXPECT_EQ(run["campaign"]["tiers"][0]["survival_7d"], 0.99975);
  EXPECT_EQ(run["campaign"]["tiers"][1]["stall_s"], 27);
  EXPECT_EQ(run["campaign"]["interval"]["points"].size(), record.campaign->interval->points.size());
  EXPECT_EQ(run["campaign"]["interval"]["young_regret"], record.campaign->interval->young_regret);
  EXPECT_EQ(run["engine"]["ranks"], 512);
  const Estimate& lost = record.campaign->lost[static_cast<int>(Loss::redo)];
  EXPECT_EQ(run["campaign"]["lost"]["redo"]["mean"], lost.mean);
  EXPECT_EQ(run["campaign"]["copy"]["name"], "peers");
  EXPECT_EQ(run["campaign"]["copy"]["saving_s"], 12.5);
}

TEST(RunDocument, ClockFiguresOnlyOnRequest) {
  EXPECT_FALSE(run_document(sample_record(), false).contains("timing"));
  Record slower = sample_record();
  slower.wall_s *= 2;
  slower.peak_rss_bytes *= 2;
  EXPECT_EQ(json_text(run_document(sample_record(), false)),
            json_text(run_document(slower, false)));
}

TEST(RunDocument, WithoutCampaignItIsNull) {
  const Json run = run_document(sample_record({.campaign = false}), false);
  EXPECT_TRUE(run["campaign"].is_null());
}

TEST(RunDocument, WithoutFailuresThereIsNoInterval) {
  Record record = sample_record();
  record.campaign->interval.reset();
  EXPECT_TRUE(run_document(record, false)["campaign"]["interval"].is_null());
}

TEST(RunDocument, LayoutsWithoutASpareAreAList) {
  Record record = sample_record();
  EXPECT_FALSE(run_document(record, false)["campaign"].contains("relayouts"));
  record.campaign->relaid = {{3, 2, 1, 3, 0.5}, {2, 2, 2, 1, 0.75}};
  EXPECT_EQ(run_document(record, false)["campaign"]["relayouts"].dump(),
            R"([{"nodes":3,"tp":2,"pp":1,"dp":3,"step_s":0.5},)"
            R"({"nodes":2,"tp":2,"pp":2,"dp":1,"step_s":0.75}])");
}

TEST(RunDocument, WhatIsNotKnownIsNull) {
  Record record = sample_record();
  record.campaign->job_days = {};  // the job states no tokens
  record.campaign->job_cost_usd = {};
  Json job = run_document(record, false)["campaign"]["job"];
  EXPECT_EQ(job.dump(), R"({"days":null,"cost_usd":null})");
  const double never = std::numeric_limits<double>::infinity();
  record.campaign->job_days = {never, never, never, never, never};
  record.campaign->wall_s.mean = std::numeric_limits<double>::quiet_NaN();
  const Json campaign = run_document(record, false)["campaign"];
  EXPECT_TRUE(campaign["job"]["days"].is_null());
  EXPECT_TRUE(campaign["wall_s"].is_null());
  EXPECT_EQ(run_document(sample_record(), false)["campaign"]["job"]["days"]["mean"], 77.5);
}

TEST(SourceDocument, ReadsBackWhatWasWritten) {
  RecordSource source = sample_record().source;
  source.set = {{"k", "v"}, {"k", "w"}};  // the order matters
  const RecordSource again = source_of(source_json(source));
  EXPECT_EQ(again.set, source.set);
  EXPECT_EQ(again.text, source.text);
  EXPECT_EQ(again.file, source.file);
}

// A JSON writer would replace bytes that are no UTF-8, and a record with other text would give
// another result.
TEST(SourceDocument, KeepsTextsOfFilesThatAreUtf8) {
  const Json files =
      files_json({{.name = "a", .text = "caf\xc3\xa9"}, {.name = "b", .text = "\xe9"}});
  EXPECT_EQ(files[0]["text"], "caf\xc3\xa9");
  EXPECT_TRUE(files[1]["text"].is_null());
}

TEST(CompareDocument, SeparatesInfeasiblePoints) {
  Comparison comparison;
  comparison.points.push_back({{{"layout.pp", "4"}}, sample_record(), ""});
  comparison.points.push_back({{{"layout.pp", "5"}}, std::nullopt, "5 does not divide 126"});
  const Json document = compare_document(comparison, false);
  EXPECT_EQ(keys_of(document), (Keys{"points", "infeasible"}));
  ASSERT_EQ(document["points"].size(), 1u);
  EXPECT_EQ(document["points"][0]["set"]["layout.pp"], "4");
  EXPECT_EQ(document["points"][0]["result"]["scenario"], "sample");
  EXPECT_EQ(document["infeasible"].dump(),
            R"([{"set":{"layout.pp":"5"},"reason":"5 does not divide 126"}])");
}

TEST(JsonText, ReplacesInvalidUtf8AndNonFiniteNumbers) {
  Record record = sample_record();
  record.scenario = "bad \xff name";
  record.iteration.mfu = std::numeric_limits<double>::infinity();
  const Json parsed = Json::parse(json_text(run_document(record, false)));
  EXPECT_EQ(parsed["scenario"], "bad \xEF\xBF\xBD name");
  EXPECT_TRUE(parsed["iteration"]["mfu"].is_null());
}

}  // namespace
}  // namespace windtunnel
