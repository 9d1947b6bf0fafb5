// The driver of kinds of rows, and what rows of each kind become, by hand.
#include "validate/accuracy/kinds/measured_kind.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

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

// All take 10 s.
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
  // Three families tell each other's intervals.
  EXPECT_LT(report.rows[0].low, 10);
  EXPECT_GT(report.rows[0].high, 10);
  EXPECT_DOUBLE_EQ(report.families.at(0).baselines.at("five"), 0.375);
  // A row with two figures assumes a thing once.
  EXPECT_EQ(report.families.at(0).assumed.at("the weather"), 1);
}

TEST(MeasuredKinds, OnlyTheRowsAskedFor) {
  EXPECT_EQ(judged("a,8\nb,10\n", RowFilter::parse("seconds>9")).rows.size(), 2u);
  EXPECT_THROW(judged("a,8\n", RowFilter::parse("second>9")), Error);
}

// A fault of the scenario that stands for a row is told at the row.
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

// A token of 7,168 values goes to 8 experts, or once to each of the nodes that hold them.
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

// Where all goes through NICs, eight GPUs of one node take as long as on eight nodes.
TEST(DispatchRows, KernelsOnNicsAloneDoNotUseNvlink) {
  const std::string row = "CX7 400 Gb/s per GPU,decode,dispatch,128,7168,8,256,fp8,77,,";
  const ValidationReport report = judged_by(
      "dispatch", file_of("alone.csv", kExchanges + ("s,DeepEP V1 low latency,H800,8,1," + row) +
                                           "pure RDMA kernels\ns,DeepEP V1 low latency,H800,8,1," +
                                           row + "\n"));
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_GT(report.rows[0].predicted, 2 * report.rows[1].predicted);
}

// Rows of published results: every one is judged, fitted on or listed with the reason.
void check_all_told(const std::string& kind, const std::string& file, size_t judged, size_t fitted,
                    size_t skipped) {
  const ValidationReport report =
      judged_by(kind, std::string(WINDTUNNEL_SOURCE_DIR) + "/tests/data/" + file);
  EXPECT_EQ(report.rows.size(), judged) << file;
  EXPECT_EQ(report.fitted.size(), fitted) << file;
  EXPECT_EQ(report.skipped.size(), skipped) << file;
  for (const ValidationRow& row : report.rows) {
    EXPECT_TRUE(std::isfinite(row.predicted) && row.predicted > 0) << row.id;
    EXPECT_LE(row.low, row.predicted) << row.id;
    EXPECT_GE(row.high, row.predicted) << row.id;
  }
}

}  // namespace
}  // namespace windtunnel
