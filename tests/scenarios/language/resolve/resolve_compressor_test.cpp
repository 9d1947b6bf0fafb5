// communication.compressor: each of its keys is accepted with the methods that take it and refused
// by all others. The same holds for `compress`, by axis.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "models/compression/compressors.hpp"
#include "scenarios/language/library/calibration_writer.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

std::string scenario(const std::string& compressor) {
  return fmt::format(R"(name: t
model: mpt-125m
cluster: {{node: dgx-a100, nodes: 2}}
batch: {{global: 16, micro: 1}}
communication:
  overlap: bucketed
  compressor: {}
)",
                     compressor);
}

std::string message(const std::string& compressor) {
  return parse_message(scenario(compressor), "s.yaml");
}

CompressorChoice choice_of(const std::string& compressor) {
  return parse_case(scenario(compressor), "s.yaml").job.communication.compressors.dp;
}

const std::map<std::string, std::string>& examples() {
  static const std::map<std::string, std::string> values = {
      {"rank", "8"},    {"density", "0.02"},  {"bits", "6"},
      {"block", "128"}, {"warmup", "0.2"},    {"every", "16"},
      {"error", "1.1"}, {"feedback", "ef21"}, {"base", "topk"}};
  return values;
}

TEST(Compressor, NamesAreThoseOfTheModels) {
  for (const CompressorKind& kind : compressor_kinds()) {
    EXPECT_EQ(choice_of(std::string(kind.name)).name, kind.name);
  }
  EXPECT_EQ(message("powersdg"),
            "s.yaml:7:15: unknown compressor 'powersdg'; did you mean 'powersgd'?");
}

TEST(Compressor, KeysAreTakenOrRefusedAtTheirPlace) {
  for (const CompressorKind& kind : compressor_kinds()) {
    for (const auto& [key, value] : examples()) {
      const std::string text = fmt::format("{{name: {}, {}: {}}}", kind.name, key, value);
      bool taken =
          key == "base" ? !kind.usual.base.empty() : key == "feedback" && takes_feedback(kind);
      for (const CompressorNumber& number : compressor_numbers()) {
        if (number.name != key || !takes(kind, number)) continue;
        taken = true;
        EXPECT_EQ(choice_of(text).*number.member, std::stod(value)) << text;
      }
      if (taken) {
        EXPECT_EQ(message(text), "no error") << text;
      } else {
        const std::string start =
            fmt::format("s.yaml:7:{}: communication.compressor.{}: {} does not use it",
                        15 + text.find(value, kind.name.size() + 8), key, kind.name);
        EXPECT_EQ(message(text).substr(0, start.size()), start);
      }
    }
  }
}

// The choice of recomputation may follow after the compressor has been resolved.
TEST(Compressor, EachGoesWithARecomputationThatIsFound) {
  for (const CompressorKind& kind : compressor_kinds()) {
    const std::string text = scenario(std::string(kind.name)) + "recompute: auto\n";
    EXPECT_EQ(parse_message(text, "s.yaml"), "no error") << kind.name;
  }
}

TEST(Compressor, FeedbackAndBaseArrive) {
  EXPECT_EQ(choice_of("{name: topk, feedback: econtrol}").feedback, ErrorFeedback::econtrol);
  EXPECT_EQ(choice_of("{name: lgreco, base: qsgd, error: 0.9}").base, "qsgd");
  EXPECT_EQ(choice_of("topk").where.line, 7);
  EXPECT_NE(message("{name: lgreco, base: qsdg}").find("did you mean 'qsgd'?"), std::string::npos);
}

TEST(Compressor, NumbersOutOfRangeAreRefused) {
  EXPECT_EQ(message("{name: topk, density: 1.5}"),
            "s.yaml:7:37: communication.compressor.density: must be at most 1, not 1.5");
  EXPECT_NE(message("{name: topk, density: 0}"), "no error");
  EXPECT_NE(message("{name: qsgd, bits: 33}"), "no error");
  EXPECT_NE(message("{name: powersgd, rank: 0}"), "no error");
  EXPECT_NE(message("{name: powersgd, rank: 2.5}"), "no error");
  EXPECT_NE(message("{name: oktopk, every: 0.5}"), "no error");
}

// The largest matrix has 768 rows or columns.
TEST(Compressor, RankAboveTheMatricesIsRefused) {
  EXPECT_EQ(message("{name: powersgd, rank: 768}"), "no error");
  EXPECT_EQ(message("{name: powersgd, rank: 769}"),
            "s.yaml:7:38: compressor powersgd: rank 769 is above the 768 rows or columns of the "
            "largest gradient; choose a smaller one");
}

Case of_axes(const std::string& list, const std::string& communication = "{}") {
  return parse_case(fmt::format(R"(name: t
model: mpt-125m
cluster: {{node: dgx-a100, nodes: 2}}
layout: {{tp: 2, pp: 2, sequence_parallel: true}}
batch: {{global: 16, micro: 1}}
communication: {}
compress: [{}]
)",
                                communication, list),
                    "s.yaml");
}

std::string compressor_refusal(const std::string& list, const std::string& communication = "{}") {
  return error_of([&] { of_axes(list, communication); });
}

TEST(Compress, EachAxisHasItsOwn) {
  const AxisCompressors compressors =
      of_axes(
          "{axis: dp, name: powersgd, rank: 8}, {axis: tp, name: int4, block: 64}, {axis: pp, "
          "name: int8}, {axis: ep, name: fp8, passes: dispatch}, {axis: cp, name: fp8, hop: "
          "across}")
          .job.communication.compressors;
  EXPECT_EQ(compressors.dp.name, "powersgd");
  EXPECT_EQ(compressors.dp.rank, 8);
  EXPECT_EQ(compressors.tp.name, "int4");
  EXPECT_EQ(compressors.tp.block, 64);
  EXPECT_EQ(compressors.pp.name, "int8");
  EXPECT_EQ(compressors.ep.passes, CompressedPasses::dispatch);
  EXPECT_EQ(compressors.cp.hop, CompressedHop::across);
  EXPECT_EQ(of_axes("{axis: tp, name: int4}").job.communication.compressors.dp.name, "none");
}

// Stated by either key, a compressor of gradients gives the same job.
TEST(Compress, OfDpIsTheCompressorOfGradients) {
  const Case in_list = of_axes("{axis: dp, name: topk, density: 0.01, hop: across}");
  const Case alone = of_axes("", "{compressor: {name: topk, density: 0.01, hop: across}}");
  const CompressorChoice& a = in_list.job.communication.compressors.dp;
  const CompressorChoice& b = alone.job.communication.compressors.dp;
  EXPECT_EQ(std::tie(a.name, a.density, a.hop), std::tie(b.name, b.density, b.hop));
  const auto explains = [](const Case& of, const std::string& key) {
    return std::ranges::count(of.values, key, &ResolvedValue::key) == 1;
  };
  EXPECT_TRUE(explains(in_list, "compress.0.density"));
  EXPECT_FALSE(explains(in_list, "communication.compressor.name"));
  EXPECT_TRUE(explains(alone, "communication.compressor.density"));
  EXPECT_NE(in_list.key, of_axes("{axis: dp, name: topk, density: 0.02, hop: across}").key);
}

TEST(Compress, WhatDoesNotGoIsRefusedAtItsPlace) {
  const std::pair<std::string, std::string> cases[] = {
      {"{axis: tp, name: powersgd}",
       "s.yaml:7:29: compress.0.name: powersgd is made for gradients, because sums of gradients "
       "tolerate omitted elements; activations need a compressor that quantises every element: "
       "qsgd, int8, int6, int4, fp8"},
      {"{axis: tp, name: int8}, {axis: tp, name: fp8}",
       "s.yaml:7:43: compress.1.axis: tp already has a compressor; remove one of them"},
      {"{axis: pp, name: fp8, hop: across}", "s.yaml:7:39: compress.0.hop: a message"},
      {"{axis: tp, name: fp8, passes: dispatch}",
       "s.yaml:7:42: compress.0.passes: this key is for experts (axis: ep)"},
      {"{axis: tp, name: int8, warmup: 0.1}", "s.yaml:7:43: compress.0.warmup: activations are"},
      {"{axis: tp, name: int8, feedback: ef}",
       "s.yaml:7:45: compress.0.feedback: the quantisation error"},
      {"{axis: tp, name: int8, rank: 4}", "s.yaml:7:41: compress.0.rank: int8 does not use it"},
      {"{axis: tp}", "s.yaml:7:12: compress.0"},
      {"{name: int8}", "s.yaml:7:12: compress.0"},
      {"{axis: ddp, name: int8}", "s.yaml:7:19: unknown axis 'ddp'"}};
  for (const auto& [list, start] : cases) {
    EXPECT_EQ(compressor_refusal(list).substr(0, start.size()), start);
  }
  EXPECT_EQ(compressor_refusal("{axis: dp, name: topk}", "{compressor: powersgd}"),
            "s.yaml:7:19: compress.0.axis: communication.compressor also compresses axis dp; leave "
            "one of them out");
  EXPECT_NE(compressor_refusal("{axis: pp, name: fp8}", "{boundary_rank: 8}")
                .find("leave one of them out"),
            std::string::npos);
}

// A calibration's shares of compression kernels are written, read back, and refused at their place.
TEST(Compressor, KernelsOfACalibration) {
  Calibration calibration = find_calibration("generic");
  EXPECT_TRUE(calibration.kernels.empty());
  calibration.kernels = {{"exact top-k", {0.003, 0.002, 0.004, Origin::published, "logs"}},
                         {"sign pack", {0.5, 0.5, 0.5, Origin::assumed, "a guess"}}};
  calibration.kernel_starts = {{"orthonormalise", {26, 13, 52, Origin::published, "timings"}}};
  const std::string text = calibration_text(calibration, "test");
  const std::vector<KernelStarts> starts =
      read_calibration(parse_document(text, "c.yaml")).kernel_starts;
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].name, "orthonormalise");
  EXPECT_EQ(starts[0].starts.value, 26);
  const auto read = [](const std::string& from) {
    return read_calibration(parse_document(from, "c.yaml")).kernels;
  };
  const std::vector<KernelShare> kernels = read(text);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "exact top-k");
  EXPECT_EQ(kernels[0].share.value, 0.003);
  EXPECT_EQ(kernels[0].share.high, 0.004);
  EXPECT_EQ(kernels[0].share.origin, Origin::published);
  EXPECT_EQ(kernels[1].share.source, "a guess");
  const auto refused = [&](const std::string& part, const std::string& with) {
    std::string changed = text;
    changed.replace(changed.find(part), part.size(), with);
    return error_of([&] { read(changed); });
  };
  EXPECT_NE(refused("exact top-k:", "exact topk:").find("did you mean 'exact top-k'?"),
            std::string::npos);
  EXPECT_NE(refused("value: 0.003", "value: 0").find("exact top-k: must be above 0"),
            std::string::npos);
  EXPECT_NE(refused("value: 0.003", "value: 1.5").find("exact top-k: must be above 0"),
            std::string::npos);
}

}  // namespace
}  // namespace windtunnel
