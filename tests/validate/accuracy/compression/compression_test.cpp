#include "validate/accuracy/compression/compression.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "validate/accuracy/compression/exchange_source.hpp"

namespace windtunnel {
namespace {

const CompressionValidation& validated() {
  static const CompressionValidation validation = [] {
    // The files are told apart by their headers, in any order.
    return validate_compression(
        read_compression_files({WINDTUNNEL_SOURCE_DIR "/tests/data/quantised_all_reduce.csv",
                                WINDTUNNEL_SOURCE_DIR "/tests/data/exchange_runs.csv"}),
        {});
  }();
  return validation;
}

const ValidationFamily& family(const std::string& name) {
  const auto& families = validated().report.families;
  const auto found = std::ranges::find(families, name, &ValidationFamily::name);
  EXPECT_NE(found, families.end()) << name;
  return *found;
}

// Predictions from one law per network must meet these bounds; all judged rows are unseen.
TEST(Compression, MethodsOfExchangeFromOneLawPerNetwork) {
  EXPECT_EQ(family("BSP").rows, 6);
  EXPECT_EQ(family("BSP").fitted, 18);
  EXPECT_LE(family("BSP").mape, 0.04);
  EXPECT_LE(family("WFBP").mape, 0.08);
  EXPECT_EQ(family("MG-WFBP").rows, 24);
  EXPECT_LE(family("MG-WFBP").mape, 0.08);
  EXPECT_EQ(family("ByteScheduler").rows, 21);
  EXPECT_LE(family("ByteScheduler").mape, 0.15);
}

// Servers on 100GbE were as slow as on 10GbE, except ByteScheduler's: these rows are suspect and
// have no bound.
TEST(Compression, ServersFromOneLawPerNetwork) {
  for (const char* name : {"BSP-PS", "WFBP-PS", "ByteScheduler-PS"}) {
    EXPECT_LE(family(name).mape, 0.15) << name;
  }
  EXPECT_EQ(family("ByteScheduler-PS").rows, 22);
  EXPECT_EQ(family("ByteScheduler-PS").fitted, 2);
  EXPECT_EQ(family("suspect: BSP-PS").rows, 8);
  EXPECT_EQ(family("suspect: WFBP-PS").rows, 8);
}

TEST(Compression, SparseExchangeFromAnotherNetworksRows) {
  for (const char* name : {"ResNet-20", "ResNet-50", "VGG-16(cifar)"}) {
    const ValidationFamily& gain =
        family(fmt::format("gTop-k rows, {}: speed-up over dense", name));
    EXPECT_EQ(gain.rows, 8);
    EXPECT_LE(gain.mape, 0.15) << name;
  }
  const ValidationFamily& shares = family("gTop-k breakdown: shares of the step");
  EXPECT_EQ(shares.rows, 9);
  EXPECT_LE(shares.worst.relative_error(), 0.20);
}

TEST(Compression, SimplerRulesAreFurtherOff) {
  for (const char* name : {"BSP", "WFBP", "MG-WFBP", "ByteScheduler"}) {
    for (const auto& [rule, error] : family(name).baselines) {
      EXPECT_LT(2 * family(name).mape, error) << name << ", " << rule;
    }
  }
}

TEST(Compression, MethodsComeInTheOrderMeasured) {
  for (const PairOrder& order : {validated().all_reduce_order, validated().order}) {
    EXPECT_GE(order.pairs, 50);
    EXPECT_GE(order.right, 0.95 * order.pairs);
    EXPECT_EQ(static_cast<size_t>(order.pairs - order.right), order.wrong.size());
  }
}

TEST(Compression, TheFittedLawIsPhysical) {
  ASSERT_TRUE(validated().fitted.contains("hkbu"));
  const FittedLaw& law = validated().fitted.at("hkbu");
  int networks = 0;
  for (const FittedLawNumber& number : law.numbers) {
    const bool is_share = number.what->name.ends_with(".efficiency");
    const double least = !is_share ? 0 : number.network.empty() ? 0.1 : 0.05;
    EXPECT_GT(number.value, least) << number.what->name << number.network;
    EXPECT_TRUE(!is_share || number.value <= 1) << number.what->name << number.network;
    EXPECT_TRUE(number.what->name != "nic.latency" || number.value < 1e-3) << number.network;
    networks += number.what->name == "nic.efficiency" && !number.network.empty() ? 1 : 0;
  }
  EXPECT_EQ(networks, 3);
  const FittedLawNumber* connection = law.find(kConnection, "", 1);
  ASSERT_NE(connection, nullptr);
  EXPECT_GT(connection->value, 0.1e9);
  EXPECT_LT(connection->value, 25e9 / 8);  // BytePS: one connection rarely gets more
}

TEST(Compression, DataParallelStepsGrowAsMeasured) {
  const ValidationFamily& buckets = family("DDP buckets, V100");
  EXPECT_EQ(buckets.rows, 8);
  EXPECT_EQ(buckets.fitted, 8);
  EXPECT_LE(buckets.mape, 0.015);
}

TEST(Compression, FewBitsPayFromAboutTheMeasuredSize) {
  int judged = 0;
  for (const Crossover& crossover : validated().crossovers) {
    if (crossover.fitted) continue;
    ++judged;
    ASSERT_TRUE(crossover.measured_bytes && crossover.predicted_bytes) << crossover.method;
    EXPECT_LE(std::abs(std::log2(*crossover.predicted_bytes / *crossover.measured_bytes)), 1)
        << crossover.method;
  }
  EXPECT_EQ(judged, 2);
}

TEST(Compression, NoRowIsBothFittedAndJudged) {
  const ValidationReport& report = validated().report;
  for (const ValidationRow& fitted : report.fitted) {
    for (const ValidationRow& judged : report.rows) {
      EXPECT_FALSE(fitted.id == judged.id && fitted.family == judged.family) << fitted.id;
    }
  }
}

TEST(Compression, OneGpuTakesTheStatedTime) {
  Job job = exchange_job("ResNet-50", 25.6e6, 1, 64, {"pcie-rtx2080ti", 4, 1.25e9});
  set_alone_s(job, 0.2529);
  EXPECT_NEAR(exchange_step_s(job), 0.2529, 1e-6);
}

std::string refusal(const std::string& model, double parameters, int gpus) {
  return error_of([&] {
    exchange_job(model, parameters, gpus, 64, {"pcie-rtx2080ti", 4, 1.25e9});
  });
}

TEST(Compression, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refusal("Inception-v4", 0, 4), "the library has no model 'Inception-v4'");
  EXPECT_EQ(refusal("ResNet-50", 25.6e6, 6), "6 GPUs do not fill whole nodes of 4");
  EXPECT_EQ(refusal("ResNet-50", 25.6e6, 1 << 26),
            "64 samples on each of 67108864 GPUs are too many for a step");
  EXPECT_NE(refusal("ResNet-50", 60e6, 4).find("has 6e+07 parameters, but the library's"),
            std::string::npos);
}

std::string quantised_refusal(const std::string& first, const std::string& second) {
  const std::string header = "gpu,gpus,bytes_fp16,baseline_us,qr_int8_us,qr_int6_us,qr_int4_us\n";
  const std::string text =
      fmt::format("{}{},2048,7,23,25,21\n{},16384,7,23,25,21\n", header, first, second);
  return error_of([&] { validate_quantised(CsvTable::parse(text, "q.csv")); });
}

TEST(Compression, AQuantisedAllReduceIsOfOneNode) {
  EXPECT_EQ(quantised_refusal("MI300X,4", "MI300X,4"), "no error");
  EXPECT_EQ(
      quantised_refusal("MI300X,4", "MI300X,8"),
      "q.csv:3:1: it is another machine than 4 MI300X of the first row; use one table for each");
  EXPECT_EQ(quantised_refusal("MI300X,1", "MI300X,1"),
            "q.csv:2:2: column 'gpus': 1 GPUs in one node; expected 2 to 1024");
  EXPECT_TRUE(quantised_refusal("MI9,4", "MI9,4").starts_with("q.csv:2:1: unknown node 'mi9'"));
}

TEST(Compression, BucketsWithoutRowsToFitOnAreNotPredicted) {
  CompressionRuns runs =
      read_compression_runs(WINDTUNNEL_SOURCE_DIR "/tests/data/exchange_runs.csv");
  std::erase_if(runs.runs, [](const CompressionRun& run) { return run.model != "resnet101"; });
  ASSERT_FALSE(runs.runs.empty());
  const ValidationReport report = validate_compression({{runs}, {}}, {}).report;
  EXPECT_TRUE(report.rows.empty());
  EXPECT_GE(report.skipped.size(), runs.runs.size());
}

// Servers without fitted rows have no slowdown.
TEST(Compression, ServersThatNoRowIsFittedOn) {
  CompressionRuns runs =
      read_compression_runs(WINDTUNNEL_SOURCE_DIR "/tests/data/exchange_runs.csv");
  std::erase_if(runs.runs, [](const CompressionRun& run) {
    return run.model != "ResNet-50" || !run.network.starts_with("10GbE");
  });
  const ValidationReport report =
      validate_compression({{runs}, {}},
                           {.fit_where = RowFilter::parse("gpus<=16 && method~\"BSP-A2A\"")})
          .report;
  int served = 0;
  for (const ValidationRow& row : report.rows) {
    EXPECT_TRUE(std::isfinite(row.predicted)) << row.label;
    served += row.family == "BSP-PS" ? 1 : 0;
  }
  EXPECT_EQ(served, 4);
}

// A law that is fitted on the rows of one file judges the rows of another. A file that is named for
// both is only fitted on.
TEST(Compression, LinksAreFittedOnTheFilesThatAreNamedForIt) {
  CompressionRuns fitted =
      read_compression_runs(WINDTUNNEL_SOURCE_DIR "/tests/data/exchange_runs.csv");
  CompressionRuns judged = fitted;
  std::erase_if(fitted.runs, [](const CompressionRun& run) { return run.gpus > 16; });
  std::erase_if(judged.runs, [](const CompressionRun& run) { return run.gpus <= 16; });
  judged.table = CsvTable::parse("method\nx\n", "judged.csv");
  for (CompressionRun& run : judged.runs) run.id = "judged" + run.id;
  const ValidationReport report =
      validate_compression({{judged, fitted}, {}}, {.calibrate_on = {fitted}}).report;
  int steps = 0;
  for (const ValidationRow& row : report.rows) {
    EXPECT_TRUE(row.id.starts_with("judged")) << row.id;
    // Rows of sparse exchanges state no interval.
    if (row.metric != "step_s" || row.family.starts_with("gTop-k")) continue;
    ++steps;
    EXPECT_LT(row.low, row.predicted) << row.label;
    EXPECT_GT(row.high, row.predicted) << row.label;
  }
  EXPECT_GE(steps, 20);
  for (const ValidationRow& row : report.fitted) EXPECT_FALSE(row.id.starts_with("judged"));
}

// Nine tenths of the left-out rows are inside their intervals; unseen rows should come near that
// share.
TEST(Compression, IntervalsHoldMostUnseenSteps) {
  int inside = 0;
  int claimed = 0;
  for (const ValidationRow& row : validated().report.rows) {
    if (row.metric != "step_s" || !(row.low < row.high)) continue;
    ++claimed;
    inside += row.low <= row.measured && row.measured <= row.high ? 1 : 0;
  }
  EXPECT_GE(claimed, 60);
  EXPECT_GE(inside, 0.75 * claimed);
}

TEST(Compression, AChoiceThatLeavesNothingToFitOnIsRefusedWithTheWayOn) {
  const CompressionRuns runs =
      read_compression_runs(WINDTUNNEL_SOURCE_DIR "/tests/data/exchange_runs.csv");
  EXPECT_EQ(error_of([&] {
              validate_compression({{runs}, {}}, {.fit_where = RowFilter::parse("gpus>1000")});
            }),
            "no row of HKBU ddl-benchmarks with a method without servers and hooks is left for the "
            "fit; choose others with --fit-where, or files with --calibrate-on");
}

// The time of the exchange is solved for from dense rows and rows of gTop-k. If either rows are
// missing, the report states this reason.
TEST(Compression, SparseExchangeWithoutDenseRowsIsSkippedWithTheReason) {
  for (const char* missing : {"Dense S-SGD", "gTop-k S-SGD"}) {
    CompressionRuns runs =
        read_compression_runs(WINDTUNNEL_SOURCE_DIR "/tests/data/exchange_runs.csv");
    std::erase_if(runs.runs, [&](const CompressionRun& run) {
      return !run.source.starts_with("gTop-k") || run.method.starts_with(missing);
    });
    const ValidationReport report = validate_compression({{runs}, {}}, {}).report;
    EXPECT_TRUE(report.rows.empty()) << missing;
    EXPECT_EQ(report.skipped.size(), runs.runs.size()) << missing;
    EXPECT_TRUE(
        report.skipped.front().reason.starts_with("the rows from which its law is solved lack"))
        << report.skipped.front().reason;
  }
}

TEST(Compression, AFilterJudgesFewerRowsUnderTheSameLaw) {
  const CompressionRuns runs =
      read_compression_runs(WINDTUNNEL_SOURCE_DIR "/tests/data/exchange_runs.csv");
  const CompressionValidation some = validate_compression(
      {{runs}, {}}, {.where = RowFilter::parse("gpus==32 && method~\"MG-WFBP\"")});
  ASSERT_EQ(some.report.rows.size(), 6U);
  for (const ValidationRow& row : some.report.rows) {
    const auto same = std::ranges::find(validated().report.rows, row.id, &ValidationRow::id);
    ASSERT_NE(same, validated().report.rows.end());
    EXPECT_DOUBLE_EQ(row.predicted, same->predicted);
  }
  EXPECT_THROW(validate_compression({{runs}, {}}, {.where = RowFilter::parse("method2==1")}),
               Error);
}

}  // namespace
}  // namespace windtunnel
