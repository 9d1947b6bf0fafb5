// Tests measured collectives: points, families, the choice of rows to fit on and to judge, and
// simpler rules.
#include "validate/accuracy/collectives/collective_accuracy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "models/base/error.hpp"
#include "scenarios/language/library/library.hpp"
#include "sim/study/expect/expect.hpp"
#include "validate/accuracy/collectives/collective_fit.hpp"

namespace windtunnel {
namespace {

constexpr const char* kHeader =
    "source,machine,gpu,gpus,nodes,network,collective,bytes,time_us,placement,dtype,notes,check\n";

std::string line(const std::string& machine, int gpus, double bytes, double time_us,
                 const std::string& notes = "", const std::string& check = "") {
  return fmt::format(
      "s,{},H100,{},{},InfiniBand NDR 8x400Gb/s/node,all_reduce,{:.0f},{},out,float,"
      "{},{}\n",
      machine, gpus, (gpus + 7) / 8, bytes, time_us, notes, check);
}

CollectiveRows rows_of(const std::string& lines) {
  return parse_collective_rows(kHeader + lines, "rows.csv");
}

TEST(Environment, IsWhatStandsBeforeTheSemicolonWithoutHosts) {
  EXPECT_EQ(environment_of("env1 default (TCP path); run 2024-04-29"), "env1 default (TCP path)");
  EXPECT_EQ(environment_of("single-node cnode3-002"), "single-node");
  EXPECT_EQ(environment_of("aws-ofi-nccl 1.13.0; baseline"), "aws-ofi-nccl 1.13.0");
  EXPECT_EQ(environment_of(""), "");
}

TEST(Collectives, PointsAreMedians) {
  const CollectiveRows rows =
      rows_of(line("M", 16, 1 << 20, 90, "e; run 1") + line("M", 16, 1 << 20, 100, "e; run 2") +
              line("M", 16, 1 << 20, 400, "e; run 3") + line("M", 16, 1 << 20, 7, "other"));
  const CollectivesReport report = validate_collectives({rows}, {});
  ASSERT_EQ(report.report.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(report.report.rows[0].measured, 1e-4);
  EXPECT_EQ(report.report.rows[0].id, "rows.csv:2");
  EXPECT_EQ(report.report.rows[0].family, "M, from 1 MB, from specification");
  EXPECT_EQ(report.measured_rows, 4);
}

// Every row is part of a point, or listed with a reason.
TEST(Collectives, NoRowIsLost) {
  const CollectiveRows rows =
      rows_of(line("M", 16, 1 << 20, 90) + line("M", 16, 1 << 20, 100, "", "inconsistent") +
              "s,X,Gaudi,16,2,RoCE,all_reduce,1024,100,out,float,,\n");
  const CollectivesReport report = validate_collectives({rows}, {});
  EXPECT_EQ(report.measured_rows, 1);
  ASSERT_EQ(report.report.skipped.size(), 2u);
  EXPECT_EQ(report.report.skipped[0].reason, "its source marks the row as inconsistent");
  EXPECT_EQ(report.report.skipped[1].id, "rows.csv:4");
}

TEST(Collectives, FittedRowsAreNotJudged) {
  std::string lines;
  for (const int gpus : {8, 16, 32, 64}) {
    for (double bytes = 1 << 14; bytes <= 1 << 26; bytes *= 4) {
      lines += line("M", gpus, bytes, 20 + bytes / 2e5);
    }
  }
  const CollectiveRows rows = rows_of(lines + line("N", 16, 1 << 20, 90));
  CollectivesOptions options;
  options.fit_where = RowFilter::parse("gpus<=32 && machine=='M'");
  options.threads = 1;
  const CollectivesReport report = validate_collectives({rows}, options);
  EXPECT_EQ(report.report.fitted.size(), 21u);
  EXPECT_EQ(report.report.rows.size(), 8u);
  ASSERT_EQ(report.networks.size(), 1u);
  EXPECT_EQ(report.networks[0].machine, "M");
  EXPECT_EQ(report.networks[0].rows, 21);
  std::set<std::string> judged;
  for (const ValidationFamily& family : report.report.families) {
    if (family.rows > 0) judged.insert(family.name);
  }
  EXPECT_EQ(judged, (std::set<std::string>{"M, below 1 MB", "M, from 1 MB",
                                           "N, from 1 MB, from specification"}));
  for (const ValidationRow& row : report.report.rows) {
    EXPECT_LT(row.low, row.predicted);
    EXPECT_GT(row.high, row.predicted);
  }
}

// If one file is named for both, its rows are fitted on and not judged.
TEST(Collectives, CalibrateOnTheSameFile) {
  const CollectiveRows rows = rows_of(line("M", 16, 1 << 20, 90) + line("M", 16, 1 << 24, 900));
  CollectivesOptions options;
  options.calibrate_on = {rows};
  options.threads = 1;
  const CollectivesReport report = validate_collectives({rows}, options);
  EXPECT_TRUE(report.report.rows.empty());
  EXPECT_EQ(report.report.fitted.size(), 2u);
}

TEST(Collectives, RefusesWhatCannotBeFitted) {
  const CollectiveRows rows = rows_of(line("M", 16, 1 << 20, 90));
  CollectivesOptions options;
  options.fit_where = RowFilter::parse("gpus<2");
  EXPECT_THROW(validate_collectives({rows}, options), Error);
  options.fit_where = RowFilter::parse("gpsu<2");
  EXPECT_THROW(validate_collectives({rows}, options), Error);
}

// A bound on no rows would always hold, so it is refused.
TEST(Collectives, RefusesToJudgeNothing) {
  const CollectiveRows rows = rows_of(line("M", 16, 1 << 20, 90));
  CollectivesOptions options;
  options.where = RowFilter::parse("gpus>16");
  EXPECT_THROW(validate_collectives({rows}, options), Error);
  options.where = RowFilter::parse("gpus>8");
  EXPECT_EQ(validate_collectives({rows}, options).report.rows.size(), 1u);
}

// A fit on rows that follow the law finds its parameters.
TEST(AlphaBeta, IsFoundAgain) {
  std::vector<double> steps;
  std::vector<double> bytes;
  std::vector<double> seconds;
  for (const double n : {2.0, 14.0, 62.0}) {
    for (double size = 1e3; size <= 1e9; size *= 10) {
      steps.push_back(n);
      bytes.push_back(size);
      seconds.push_back(7e-6 * n + size / 40e9);
    }
  }
  const AlphaBeta law = fit_alpha_beta(steps, bytes, seconds);
  EXPECT_NEAR(law.alpha_s, 7e-6, 1e-10);
  EXPECT_NEAR(law.beta_s_per_byte, 1 / 40e9, 1e-15);
}

TEST(CollectiveBaselines, RingTreeAndNoise) {
  std::string lines;
  for (const int gpus : {8, 16, 64}) {
    for (double bytes = 1 << 10; bytes <= 1 << 28; bytes *= 8) {
      const double ring = 2.0 * (gpus - 1) * 5 + 2.0 * (gpus - 1) / gpus * bytes / 1e4;
      lines += line("M", gpus, bytes, ring, "e; run 1") + line("M", gpus, bytes, ring, "e; run 2");
    }
  }
  const CollectiveRows rows = rows_of(lines);
  CollectivesOptions options;
  options.fit_where = RowFilter::parse("gpus<=16");
  options.threads = 1;
  const CollectivesReport report = validate_collectives({rows}, options);
  for (const ValidationRow& row : report.report.rows) {
    EXPECT_NEAR(row.baselines.at("alpha-beta, ring") / row.measured, 1, 1e-3) << row.label;
    EXPECT_NEAR(row.baselines.at("noise floor") / row.measured, 1, 1e-9) << row.label;
    EXPECT_TRUE(row.baselines.contains("alpha-beta, tree"));
  }
}

// `windtunnel expect` states for each measured point the interval that the point is judged by, so
// the table of machines counts the same points inside.
TEST(Collectives, ExpectedAsTheyAreJudged) {
  const CollectiveRows rows =
      read_collective_rows(WINDTUNNEL_SOURCE_DIR "/tests/data/collectives.csv");
  const CollectivesReport report = validate_collectives({rows}, {});
  std::vector<const CollectiveRow*> all;
  for (const CollectiveRow& row : rows.rows) all.push_back(&row);
  std::vector<SkippedRow> skipped;
  const std::vector<ScoredRow> points = scored_rows(all, node_sizes(rows.rows), skipped);
  ASSERT_EQ(points.size(), report.report.rows.size());
  std::map<std::string, std::pair<int, int>> inside;  // points per machine
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ScoredRow& point = points[i];
    const CollectiveMachine& where = *point.where;
    const ExpectedCurve curve =
        expect_collective({.kind = point.kind,
                           .choice = point.choice,
                           .sizes = {point.bytes},
                           .cluster = where.cluster,
                           .gpus = where.gpus,
                           .calibration = find_calibration(where.calibration),
                           .nccl_release = where.nccl_release,
                           .process_gpus = where.process_gpus});
    const ExpectedSize& expected = curve.sizes.front();
    const ValidationRow& judged = report.report.rows[i];
    ASSERT_EQ(judged.id, point.id);
    EXPECT_DOUBLE_EQ(expected.seconds, judged.predicted) << judged.label;
    EXPECT_DOUBLE_EQ(expected.low_s, judged.low) << judged.label;
    EXPECT_DOUBLE_EQ(expected.high_s, judged.high) << judged.label;
    const double busbw = bus_bandwidth(curve, point.bytes, point.seconds);
    auto& [in, of] = inside[point.machine];
    ++of;
    in += busbw <= bus_bandwidth(curve, point.bytes, expected.low_s) &&
                  busbw >= bus_bandwidth(curve, point.bytes, expected.high_s)
              ? 1
              : 0;
  }
  for (const JudgedMachine& machine : report.summary.machines) {
    const auto& [in, of] = inside[machine.name];
    EXPECT_EQ(of, machine.all.points) << machine.name;
    EXPECT_NEAR(static_cast<double>(in) / of, machine.covered, 1e-12) << machine.name;
  }
}

}  // namespace
}  // namespace windtunnel
