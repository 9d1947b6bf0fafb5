// communication.compressor: every key with every method that takes it, refused by all others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

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
  return parse_case(scenario(compressor), "s.yaml").job.communication.compressor;
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
        const std::string start = fmt::format(
            "s.yaml:7:{}: communication.compressor.{}: {} has no "
            "use for it",
            15 + text.find(value, kind.name.size() + 8), key, kind.name);
        EXPECT_EQ(message(text).substr(0, start.size()), start);
      }
    }
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

// Shares of kernels in a calibration: written, read back, and refused at their place.
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
