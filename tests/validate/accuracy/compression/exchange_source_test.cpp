#include "validate/accuracy/compression/exchange_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/error_of.hpp"
#include "validate/accuracy/compression/compression.hpp"

namespace windtunnel {
namespace {

std::vector<ExchangeSource> read(const std::string& sources) {
  return read_exchange_sources(parse_document("sources:\n" + sources, "t.yaml"));
}

// Returns a source with one method and a law of two numbers; each argument is added to its part of
// the text.
std::string entry(const std::string& method = "", const std::string& number = "",
                  const std::string& source = "") {
  return "  mine:\n"
         "    begins: HKBU\n"
         "    family: mine, {method}\n"
         "    clusters: [{node: pcie-rtx2080ti, gpus: 4, nic: 10 Gb/s}]\n"
         "    alone: single GPU\n"
         "    methods:\n"
         "      - {begins: WFBP-A2A, name: WFBP, set: {communication.overlap: wfbp}" +
         method +
         "}\n"
         "    law:\n"
         "      fit_on: {where: \"gpus<=16\"}\n"
         "      priors: \"assumed: for a test\"\n"
         "      noise: 0.03\n"
         "      stages:\n"
         "        - of: all-reduce\n"
         "          text: \"{collective.launch us 0} us, {nic.efficiency % 0} %\"\n"
         "          numbers:\n"
         "            collective.launch: {guess: 50 us, factor: 10}\n"
         "            nic.efficiency: {guess: 0.5, factor: 4" +
         number + "}\n    source: here\n" + source;
}

std::string refused(const std::string& sources) {
  return error_of([&] { read(sources); });
}

TEST(ExchangeSource, AnEntryIsAllThatASourceNeeds) {
  CompressionRuns runs =
      read_compression_runs(WINDTUNNEL_SOURCE_DIR "/tests/data/exchange_runs.csv");
  std::erase_if(runs.runs, [](const CompressionRun& run) {
    return !run.source.starts_with("HKBU") || !run.network.starts_with("10GbE");
  });
  const std::vector<ExchangeSource> sources =
      read(entry("", "", "  other: {begins: PyTorch, refused: not of interest, source: there}\n"));
  const CompressionValidation validation =
      validate_compression({{runs}, {}}, {.sources = &sources});
  const ValidationReport& report = validation.report;
  EXPECT_EQ(report.rows.size(), 2U);    // the rows on 32 GPUs
  EXPECT_EQ(report.fitted.size(), 6U);  // two models on 4, 8 and 16 GPUs
  for (const ValidationRow& row : report.rows) {
    EXPECT_EQ(row.family, "mine, WFBP");
    EXPECT_LT(row.relative_error(), 0.2) << row.label;
  }
  const auto reason = [](const SkippedRow& row) {
    return row.reason.starts_with("unknown method of exchange");
  };
  EXPECT_EQ(std::ranges::count_if(report.skipped, reason), 48);  // rows of the six other methods
  ASSERT_EQ(validation.laws.size(), 1U);
  EXPECT_TRUE(validation.laws[0].ends_with(" %")) << validation.laws[0];
}

TEST(ExchangeSource, ARefusedSourceAndAnUnknownOneAreListedWithTheReason) {
  CompressionRuns runs =
      read_compression_runs(WINDTUNNEL_SOURCE_DIR "/tests/data/exchange_runs.csv");
  std::erase_if(runs.runs,
                [](const CompressionRun& run) { return run.source.starts_with("HKBU"); });
  const std::vector<ExchangeSource> sources =
      read("  other: {begins: PyTorch, refused: not of interest, source: there}\n");
  const ValidationReport report = validate_compression({{runs}, {}}, {.sources = &sources}).report;
  EXPECT_TRUE(report.rows.empty());
  EXPECT_EQ(report.skipped.size(), runs.runs.size());
  for (const SkippedRow& row : report.skipped) {
    EXPECT_TRUE(row.reason == "not of interest" ||
                row.reason == "source 'gTop-k ICDCS 2019 plot script' is unknown")
        << row.reason;
  }
}

TEST(ExchangeSource, WhatCannotBeKnownIsRefusedAtItsPlace) {
  EXPECT_EQ(refused(entry()), "no error");
  EXPECT_EQ(refused(entry(", hook: true")),
            "t.yaml:8:76: unknown key 'hook'; did you mean 'hooks'?");
  EXPECT_EQ(refused(entry("", ", each: network, mots: 1")),
            "t.yaml:18:68: unknown key 'mots'; did you mean 'most'?");
  EXPECT_EQ(refused(entry("", "}\n            nic.eficiency: {guess: 0.5, factor: 4")),
            "t.yaml:19:13: unknown number 'nic.eficiency'; did you mean 'nic.efficiency'?");
  EXPECT_EQ(refused("  late:\n    begins: x\n    family: y\n    methods: []\n    clusters: []\n"
                    "    source: z\n    law: {of: mine, network: 10GbE}\n" +
                    entry())
                .substr(0, 44),
            "t.yaml:8:15: unknown source before it 'mine'");
  EXPECT_EQ(refused(entry("}\n      - {begins: PS, name: PS, set: {communication.aggregation: "
                          "parameter-server}")),
            "t.yaml:11:7: no stage has parameter-server, which method PS sets");
  EXPECT_EQ(refused("  bare: {begins: x, source: z}\n").substr(0, 11), "t.yaml:2:9:");
}

TEST(ExchangeSource, KeysThatWouldBeIgnoredAreRefused) {
  EXPECT_EQ(refused(entry("", ", each: gpu")), "t.yaml:18:59: unknown each 'gpu'; known: network");
  EXPECT_EQ(refused(entry("", "", "    suspect: {network: 10GbE, methods: [WFBP], method: x}\n")),
            "t.yaml:20:48: unknown key 'method'; did you mean 'methods'?");
  EXPECT_EQ(refused("  other: {begins: x, refused: y, source: z, family: w}\n").substr(0, 33),
            "t.yaml:2:45: unknown key 'family'");
}

TEST(ExchangeSource, TextsNameNumbersOfTheirLaw) {
  const auto with = [](const std::string& inside) {
    std::string text = entry();
    const std::string usual = "collective.launch us 0";
    return refused(text.replace(text.find(usual), usual.size(), inside));
  };
  EXPECT_EQ(with("nic.efficiency % 1"), "no error");
  EXPECT_EQ(with("nic.latency us 1"),
            "t.yaml:15:17: text: this stage and those before it have no number 'nic.latency' that "
            "holds on all networks");
  for (const char* inside : {"nic.efficiency", "nic.efficiency s 1", "nic.efficiency % 12"}) {
    EXPECT_NE(with(inside).find("is not {NAME UNIT DIGITS}"), std::string::npos) << inside;
  }
}

TEST(ExchangeSource, MethodsNameTheirBuckets) {
  CompressionRun run;
  run.method = "DDP 2 nodes bucket 25MB p50";
  EXPECT_EQ(named_bucket_bytes(run), 25 * 1024 * 1024);
  run.method = "MG-WFBP (no compression)";
  EXPECT_EQ(named_bucket_bytes(run), 0);
}

}  // namespace
}  // namespace windtunnel
