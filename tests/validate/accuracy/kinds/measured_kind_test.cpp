// Tests the driver of kinds of rows, and compares rows of each kind with models by hand.
#include "validate/accuracy/kinds/measured_kind.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

struct Pace {
  std::string id, family;
  size_t table_row = 0;
  double seconds = 0;
};
constexpr auto kPaceFields = std::to_array<RowField<Pace>>({
    {"family", &Pace::family, Needs::cell},
    {"seconds", &Pace::seconds, Needs::cell, "s", 1e9},
});

std::vector<PredictedRow> ten_seconds(const Pace& row) {
  if (row.family == "unknown") throw Error("nobody knows");
  PredictedRow result;
  result.row.family = row.family;
  result.row.metric = "time_s";
  result.row.measured = row.seconds;
  result.row.predicted = 10;
  result.row.baselines = {{"five", 5}};
  result.assumed = {"the weather"};
  return {result, result};
}

ValidationReport judged(const std::string& rows, const std::optional<RowFilter>& where = {},
                        const std::vector<FittedOn>& fitted_on = {}) {
  return judge_rows<Pace>({parse_fields<Pace>("family,seconds\n" + rows, "paces.csv", kPaceFields)},
                          where, ten_seconds, fitted_on);
}

TEST(MeasuredKinds, RowsAreJudgedFittedOnOrSkipped) {
  const ValidationReport report = judged("a,8\nb,10\nc,20\nc,3\nunknown,1\na,\n", {},
                                         {{.file = "paces.csv", .where = "seconds==3"}});
  ASSERT_EQ(report.rows.size(), 6u);
  EXPECT_EQ(report.rows[0].id, "paces.csv:2");
  EXPECT_DOUBLE_EQ(report.rows[0].relative_error(), 0.25);
  EXPECT_EQ(report.fitted.size(), 2u);
  ASSERT_EQ(report.skipped.size(), 2u);
  EXPECT_EQ(report.skipped[0].id, "paces.csv:7:2");
  EXPECT_EQ(report.skipped[0].reason, "column 'seconds': is empty");
  EXPECT_EQ(report.skipped[1].id, "paces.csv:6");
  EXPECT_EQ(report.skipped[1].reason, "nobody knows");
  // Each of three families gets its interval from the two others.
  EXPECT_LT(report.rows[0].low, 10);
  EXPECT_GT(report.rows[0].high, 10);
  EXPECT_DOUBLE_EQ(report.families.at(0).baselines.at("five"), 0.375);
  // A row with two figures counts an assumption once.
  EXPECT_EQ(report.families.at(0).assumed.at("the weather"), 1);
}

TEST(MeasuredKinds, OnlyTheRowsAskedFor) {
  EXPECT_EQ(judged("a,8\nb,10\n", RowFilter::parse("seconds>9")).rows.size(), 2u);
  EXPECT_THROW(judged("a,8\n", RowFilter::parse("second>9")), Error);
}

// A fault in the scenario made for a row is reported at the row.
TEST(MeasuredKinds, AScenarioHasNoPlaceOfItsOwn) {
  const auto report =
      judge_rows<Pace>({parse_fields<Pace>("family,seconds\na,1\n", "paces.csv", kPaceFields)}, {},
                       [](const Pace&) -> std::vector<PredictedRow> {
                         case_of_row("name: x\nmodel: no-such\n");
                         return {};
                       });
  ASSERT_EQ(report.skipped.size(), 1u);
  EXPECT_EQ(report.skipped[0].id, "paces.csv:2");
  EXPECT_NE(report.skipped[0].reason.find("no-such"), std::string::npos);
}

ValidationReport judged_by(const std::string& kind, const std::string& path);

// The rows are simulated once for all tests.
const ValidationReport& published_loops() {
  static const ValidationReport report =
      judged_by("rollouts", std::string(WINDTUNNEL_SOURCE_DIR) + "/tests/data/rl_steps_2026.csv");
  return report;
}

ValidationReport judged_by(const std::string& kind, const std::string& path) {
  const auto found = std::ranges::find(measured_kinds(), kind, &MeasuredKind::name);
  EXPECT_NE(found, measured_kinds().end());
  return found->judge({.files = {path}, .where = {}});
}

std::string file_of(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

constexpr const char* kExchanges =
    "source,library,gpu,gpus,nodes,network,mode,operation,tokens,hidden,topk,experts,dtype,time_us,"
    "bandwidth_GBps,note\n";

// A token of 7,168 values goes to 8 experts, or once to each of their nodes.
TEST(DispatchRows, SendACopyToEachExpertOrEachNode) {
  const std::string cx7 = "CX7 400 Gb/s per GPU";
  const ValidationReport report =
      judged_by("dispatch",
                file_of("dispatch.csv", std::string(kExchanges) + "s,pplx-garden,H100,64,8," + cx7 +
                                            ",prefill,combine,4096,7168,8,256,bf16,9000,,\n"
                                            "s,DeepEP V1,H800,64,8," +
                                            cx7 +
                                            ",training,combine,4096,7168,8,256,bf16,,50,\n"
                                            "s,DeepEP V1,H800,64,8," +
                                            cx7 +
                                            ",training,dispatch,4096,7168,8,256,fp8,,50,\n"
                                            "s,DeepEP V1,H800,7,2," +
                                            cx7 +
                                            ",training,dispatch,4096,7168,8,256,fp8,,50,\n"
                                            "s,DeepEP V1,H800,64,8," +
                                            cx7 + ",training,scatter,4096,7168,8,256,fp8,,50,\n"));
  ASSERT_EQ(report.rows.size(), 3u) << report.skipped.at(0).reason;
  const double copies = 4096.0 * 7168 * 2;
  const double nodes = 8 * (1 - std::pow(7.0 / 8, 8));
  EXPECT_NEAR(report.rows[0].baselines.at("bytes / specified bandwidth"), 8 * copies / 50e9, 1e-9);
  EXPECT_NEAR(report.rows[1].measured, nodes * copies / 50e9, 1e-9);
  EXPECT_GT(report.rows[1].predicted, 7.0 / 8 * nodes * copies / 50e9);
  EXPECT_NEAR(report.rows[2].measured / report.rows[1].measured, 0.5, 0.05);
  ASSERT_EQ(report.skipped.size(), 2u);
  EXPECT_NE(report.skipped[0].reason.find("'scatter' is none of dispatch, combine"),
            std::string::npos);
  EXPECT_EQ(report.skipped[1].reason, "the GPUs do not divide among the nodes");
}

// A row on one node need not state a network.
TEST(DispatchRows, OneNodeNeedsNoNic) {
  const ValidationReport report = judged_by(
      "dispatch",
      file_of("node.csv",
              std::string(kExchanges) +
                  "s,DeepEP,B200,8,1,NVLink5,training,combine,4096,7168,8,256,bf16,,500,\n"
                  "s,DeepEP,B200,16,2,NVLink5,training,combine,4096,7168,8,256,bf16,,50,\n"
                  "s,DeepEP,GB200,32,8,NVLink5,training,combine,4096,7168,8,256,bf16,,500,\n"
                  "s,DeepEP,GB200,32,1,NVLink5,training,combine,4096,7168,8,256,bf16,,500,\n"));
  ASSERT_EQ(report.rows.size(), 3u);
  EXPECT_EQ(report.rows[1].predicted, report.rows[2].predicted);  // the hosts of a rack
  ASSERT_EQ(report.skipped.size(), 1u);
  EXPECT_EQ(report.skipped[0].reason, "the speed of the network is not stated");
}

// The law is judged on other numbers of GPUs than it was fitted on, and on another library on the
// same network: the median error of each is at most 15 %.
TEST(PublishedRows, DispatchIsHeldOutByScaleAndLibrary) {
  const std::string data = std::string(WINDTUNNEL_SOURCE_DIR) + "/tests/data/";
  const ValidationReport report = judged_by("dispatch", data + "moe_dispatch_2026.csv");
  std::map<std::string, std::vector<double>> errors;
  for (const ValidationRow& row : report.rows) {
    if (row.metric.starts_with("suspect")) continue;
    const std::string library = row.family.substr(0, row.family.find(','));
    errors[library].push_back(std::abs(row.predicted / row.measured - 1));
  }
  ASSERT_EQ(errors.size(), 4u);
  for (auto& [library, of] : errors) {
    std::ranges::sort(of);
    EXPECT_LT((of[(of.size() - 1) / 2] + of[of.size() / 2]) / 2, 0.15) << library;
  }
  EXPECT_EQ(report.fitted.size(), 18u);
}

// Checks that every published row is judged, fitted on, or listed with a reason.
void check_all_told(const ValidationReport& report, size_t judged, size_t fitted, size_t skipped) {
  EXPECT_EQ(report.rows.size(), judged);
  EXPECT_EQ(report.fitted.size(), fitted);
  EXPECT_EQ(report.skipped.size(), skipped);
  for (const ValidationRow& row : report.rows) {
    EXPECT_TRUE(std::isfinite(row.predicted) && row.predicted > 0) << row.id;
    EXPECT_LE(row.low, row.predicted) << row.id;
    EXPECT_GE(row.high, row.predicted) << row.id;
  }
}

TEST(PublishedRows, AreAllTold) {
  const std::string data = std::string(WINDTUNNEL_SOURCE_DIR) + "/tests/data/";
  check_all_told(judged_by("dispatch", data + "moe_dispatch_2026.csv"), 34, 18, 0);
  check_all_told(published_loops(), 23, 8, 8);  // train_s rows that gave lengths count as fitted
  // The power of the rest of a node is fitted on one row: its mean less the GPUs' power.
  check_all_told(judged_by("power", data + "power_2026.csv"), 1, 1, 0);
  check_all_told(judged_by("failures", data + "failures_2026.csv"), 3, 0, 3);
}

// Lengths, layouts and machines are all stated, so predictions are nearer than a rule with two
// rates.
TEST(PublishedRows, StepsOfStatedLayoutsBeatFixedRates) {
  int families = 0;
  for (const ValidationFamily& family : published_loops().families) {
    const bool steps = family.name.starts_with("NeMo RL") && family.metric == "step_s";
    if (!steps || family.rows == 0) continue;
    ++families;
    EXPECT_LT(family.mape, family.baselines.at("tokens at constant rates")) << family.name;
    EXPECT_LT(family.median_ape, 0.2) << family.name;
    EXPECT_TRUE(family.coverage90) << family.name;
  }
  EXPECT_EQ(families, 3);
}

std::string rate_rows(const std::string& rows) {
  return file_of(
      "rates.csv",
      "source,system,gpus,gpu_type,nodes,days,events,quantity,cause,value,unit\n" + rows);
}

// 3.24 + 0.55 failures per 1000 node-days of eight H100 make 2 of 500 nodes fail in 1.055 days.
TEST(FailureRows, AreThoseOfTheUsualClasses) {
  const ValidationReport report = judged_by(
      "failures",
      rate_rows("s,a,4000,H100,500,100,190,share of faults,GPU recoverable faults,14.5,percent\n"
                "s,a,4000,H100,,,,mean time between failures,all,12,h\n"
                "s,a,4000,H100,500,100,190,share of faults,fans,14.5,percent\n"
                "s,a,,H100,,100,190,share of faults,GPU recoverable faults,14.5,percent\n"
                "s,a,4000,Q9,500,100,190,share of faults,GPU recoverable faults,14.5,percent\n"));
  ASSERT_EQ(report.rows.size(), 3u) << report.skipped.at(0).reason;
  const double per_day = 3.79e-3 * 500;
  EXPECT_NEAR(report.rows[0].measured, 1.9, 1e-12);
  EXPECT_NEAR(report.rows[0].predicted, per_day, 1e-9);
  EXPECT_NEAR(report.rows[1].predicted, 0.55 / 3.79, 1e-9);
  EXPECT_NEAR(report.rows[2].predicted, 24 / per_day, 1e-9);
  // Student's t of six degrees of freedom, 1.94, times 0.64 sqrt(2) gives a factor of 5.85 between
  // two clusters. The 12 % of a count of 189.5 hardly add to it.
  EXPECT_NEAR(report.rows[0].low, per_day / 5.87, 0.02);
  EXPECT_NEAR(report.rows[0].high, per_day * 5.87, 0.2);
  EXPECT_NEAR(report.rows[2].high / report.rows[2].predicted, 5.85, 0.01);
  ASSERT_EQ(report.skipped.size(), 3u);
  EXPECT_NE(report.skipped[0].reason.find("'fans'"), std::string::npos);
  EXPECT_EQ(report.skipped[1].reason, "neither GPUs nor nodes are stated");
}

TEST(FailureRows, NodesAloneTellTheCluster) {
  const std::string rest = "100,190,share of faults,GPU recoverable faults,14.5,percent\n";
  const ValidationReport report =
      judged_by("failures", rate_rows("s,a,4000,H100,500," + rest + "s,a,,H100,500," + rest));
  ASSERT_EQ(report.rows.size(), 4u) << report.skipped.at(0).reason;
  EXPECT_EQ(report.rows[0].predicted, report.rows[2].predicted);
  EXPECT_EQ(report.rows[0].metric, "faults_per_day");
  EXPECT_EQ(report.rows[1].metric, "share_of_restarts");
}

constexpr const char* kLoops =
    "source,model,policy,gpus,gpu_type,gpus_rollout,gpus_train,precision,max_seq,avg_seq,"
    "rollout_samples,train_global_batch,train_tp,train_ep,train_pp,engine,step_s,rollout_s,"
    "old_log_prob_s,ref_log_prob_s,train_s,weight_sync_s,batch_responses,log_prob_passes\n";

// The columns `policy,gpus,GPU,engines,learners` are followed by lengths, samples and a batch, and
// then by the stated figures.
std::string loop_row(const std::string& machine, const std::string& rest) {
  return "s,LLAMA3.1_8B," + machine + ",bf16,8192," + rest + "\n";
}

ValidationReport judged_loops(const std::string& rows) {
  return judged_by("rollouts", file_of("loops.csv", kLoops + rows));
}

TEST(RolloutRows, EnginesApartHaveHalfOfTheGpus) {
  const std::string rest = "2000,64,64,1,1,1,Megatron,60,30,,,20,,1,1";
  const ValidationReport report = judged_loops(loop_row("1-step Off,16,H100,,", rest) +
                                               loop_row("1-step Off,16,H100,8,8", rest));
  ASSERT_EQ(report.rows.size(), 2u) << report.skipped.at(0).reason;
  EXPECT_EQ(report.rows[0].metric, "step_s");
  EXPECT_EQ(report.rows[0].predicted, report.rows[1].predicted);
  EXPECT_EQ(report.families.at(0).assumed.at("engines have half of the GPUs"), 1);
}

// With full recomputation a step is four passes; one or two passes of log-probabilities make it 5
// or 6.
TEST(RolloutRows, TrainingHasItsLogProbabilities) {
  const std::string rest = "2000,64,64,1,1,1,Megatron,60,30,4,5,20,,1,";
  const ValidationReport report = judged_loops(loop_row("On policy,8,H100,,", rest + "1") +
                                               loop_row("On policy,8,H100,,", rest + "2"));
  ASSERT_EQ(report.rows.size(), 6u) << report.skipped.at(0).reason;
  EXPECT_EQ(report.rows[2].metric, "training_s");
  EXPECT_EQ(report.rows[2].measured, 29);
  const double longer = report.rows[5].predicted / report.rows[2].predicted;
  EXPECT_GT(longer, 1.1);
  EXPECT_LT(longer, 1.25);
  EXPECT_EQ(report.rows[4].predicted, report.rows[1].predicted);
}

// 4 prompts with 16 responses each make a batch of 64 samples.
TEST(RolloutRows, ABatchMayCountPrompts) {
  const ValidationReport report =
      judged_loops(loop_row("On policy,8,H100,,", "2000,64,64,1,1,1,Megatron,60,,,,,,1,1") +
                   loop_row("On policy,8,H100,,", "2000,64,4,1,1,1,Megatron,60,,,,,,16,1"));
  ASSERT_EQ(report.rows.size(), 2u) << report.skipped.at(0).reason;
  EXPECT_EQ(report.rows[0].predicted, report.rows[1].predicted);
}

TEST(RolloutRows, LengthsThatAreNotStatedAreOneToFiveThousand) {
  const std::string rest = ",64,64,1,1,1,Megatron,60,,,,,,1,1";
  const ValidationReport report = judged_loops(loop_row("On policy,8,H100,,", rest) +
                                               loop_row("On policy,8,H100,,", "1000" + rest) +
                                               loop_row("On policy,8,H100,,", "5000" + rest));
  ASSERT_EQ(report.rows.size(), 3u) << report.skipped.at(0).reason;
  EXPECT_EQ(report.rows[0].low, report.rows[1].predicted);
  EXPECT_EQ(report.rows[0].high, report.rows[2].predicted);
  EXPECT_GT(report.rows[0].predicted, report.rows[0].low);
  EXPECT_LT(report.rows[0].predicted, report.rows[0].high);
  EXPECT_EQ(report.families.at(0).assumed.at("samples of 1000 to 5000 tokens"), 1);
}

// 0.9 of the longest sample is 1,843 tokens, and half of that 922.
TEST(RolloutRows, AssumedLengthsEndBeforeTheLongestSample) {
  const std::string row =
      "s,LLAMA3.1_8B,On policy,8,H100,,,bf16,2048,,64,64,1,1,1,Megatron,60,,,,,,1,1\n";
  const ValidationReport report = judged_loops(row);
  ASSERT_EQ(report.rows.size(), 1u) << report.skipped.at(0).reason;
  EXPECT_EQ(report.families.at(0).assumed.count("samples of 922 to 1843 tokens"), 1u);
}

// A host of this node has four GPUs, so that twelve GPUs are three hosts and six are none.
TEST(RolloutRows, HostsMayHaveFewerThanEightGpus) {
  const std::string rest = "2000,96,96,1,1,1,Megatron,60,,,,,,1,1";
  const ValidationReport report =
      judged_loops(loop_row("On policy,12,GH200,,", rest) + loop_row("On policy,6,GH200,,", rest));
  EXPECT_EQ(report.rows.size(), 1u);
  ASSERT_EQ(report.skipped.size(), 1u);
  EXPECT_EQ(report.skipped[0].reason, "the GPUs do not divide among the nodes");
}

// The measured update gives the length of samples; the step and its other parts are judged.
TEST(RolloutRows, AnUpdateTellsLengths) {
  const std::string policy = "On policy,8,H100,,";
  const std::string rest = "1024,1024,1,1,1,Megatron,60,30,,,";
  const ValidationReport stated = judged_loops(loop_row(policy, "2000," + rest + "1,,1,1") +
                                               loop_row(policy, "2000," + rest + "1,,1,2"));
  ASSERT_EQ(stated.rows.size(), 6u) << stated.skipped.at(0).reason;
  const double update_s = 2 * stated.rows[2].predicted - stated.rows[5].predicted;
  const ValidationReport told =
      judged_loops(loop_row(policy, fmt::format(",{}{},,1,1", rest, update_s)));
  ASSERT_EQ(told.rows.size() + told.fitted.size(), 3u);
  EXPECT_NEAR(told.rows[0].predicted, stated.rows[0].predicted, 0.05 * told.rows[0].predicted);
  ASSERT_EQ(told.fitted.size(), 1u);  // the update, as it gave the lengths
  EXPECT_EQ(told.fitted.front().metric, "training_s");
}

// Learner and engines share a rack, which has as many NICs as they have GPUs.
TEST(RolloutRows, EnginesOfARackNeedNoHostOfEightGpus) {
  const std::string rest = "2000,96,96,1,1,1,Megatron,60,,,,,,1,1";
  const ValidationReport report = judged_loops(loop_row("On policy,12,GB200,,", rest) +
                                               loop_row("1-step Off,24,GB200,,", rest));
  ASSERT_EQ(report.rows.size(), 2u) << report.skipped.at(0).reason;
  EXPECT_LT(report.rows[1].predicted, report.rows[0].predicted);  // in turn, or side by side
}

// verl's scripts tell the layout of this model.
TEST(RolloutRows, ARecipeTellsALayout) {
  const std::string machine = "Qwen3-30B-A3B,colocated,32,H20,,,bf16,8192,2000,64,64,,,,";
  const std::string rest = "Megatron,60,,,,,,1,1\n";
  const ValidationReport report =
      judged_loops("verl," + machine + rest + "another," + machine + rest);
  ASSERT_EQ(report.rows.size(), 1u);
  ASSERT_EQ(report.skipped.size(), 1u);
  EXPECT_EQ(report.skipped[0].reason, "the learner's layout is not stated");
}

TEST(RolloutRows, SkipWithTheReason) {
  const std::string policy = "On policy,8,H100,,";
  const ValidationReport report =
      judged_loops(loop_row(policy, "2000,64,64,1,1,1,Megatron,,,,,,4,1,1") +
                   loop_row(policy, "2000,64,64,1,1,1,Megatron,,,,,,,1,1") +
                   loop_row(policy, "2000,64,,1,1,1,Megatron,60,,,,,,1,1") +
                   loop_row(policy, "2000,64,64,1,,1,Megatron,60,,,,,,1,1") +
                   loop_row("On policy,12,H100,,", "2000,64,64,1,1,1,Megatron,60,,,,,,1,1") +
                   loop_row("1-step Off,15,H100,,", "2000,64,64,1,1,1,Megatron,60,,,,,,1,1") +
                   loop_row("1-step Off,12,H100,4,8", "2000,64,64,1,1,1,Megatron,60,,,,,,1,1"));
  EXPECT_TRUE(report.rows.empty());
  const auto reasons = std::to_array<const char*>(
      {"only a transfer of weights, between layouts that are not stated",
       "the time of a step is not stated",
       "GPUs, samples, batch or the longest sample are not stated",
       "the learner's layout is not stated", "the GPUs do not divide among the nodes",
       "the GPUs do not divide among the nodes", "the GPUs do not divide among the nodes"});
  ASSERT_EQ(report.skipped.size(), reasons.size());
  for (size_t i = 0; i < reasons.size(); ++i) EXPECT_EQ(report.skipped[i].reason, reasons[i]) << i;
}

TEST(PowerRows, AreThoseOfANodeInAStep) {
  const std::string path =
      file_of("watts.csv",
              "source,system,gpus,gpu_type,workload,model,quantity,value,unit,rated_W\n"
              "s,node,8,H100,w,llama3-8b,\"node power, maximum\",8000,W,10200\n"
              "s,node,8,H100,something,,\"node power, mean\",7000,W,\n"
              "s,node,8,H100,w,llama3-8b,power of a rack,80000,W,\n"
              "s,node,8,H100,w,llama3-8b,\"node power, mean\",7,kW,\n"
              "s,node,8,H100,w,NoSuchModel,\"node power, mean\",7000,W,\n");
  const ValidationReport report = judged_by("power", path);
  ASSERT_EQ(report.rows.size(), 2u);
  // Eight GPUs draw at most 700 W each, the rest of the node 2,150 W.
  EXPECT_GT(report.rows[0].predicted, 2150 + 8 * 75);
  EXPECT_LE(report.rows[0].predicted, 2150 + 8 * 700);
  EXPECT_LE(report.rows[1].predicted, report.rows[0].predicted);
  EXPECT_EQ(report.rows[0].baselines.at("rated watts"), 10200);
  EXPECT_TRUE(report.rows[1].baselines.empty());
  EXPECT_EQ(report.families.at(0).assumed.count("the model: llama2-13b") +
                report.families.at(1).assumed.count("the model: llama2-13b"),
            2u);  // one family, two figures
  ASSERT_EQ(report.skipped.size(), 3u);
  EXPECT_NE(report.skipped[2].reason.find("NoSuchModel"), std::string::npos)
      << report.skipped[2].reason;
}

}  // namespace
}  // namespace windtunnel
