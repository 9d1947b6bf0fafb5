#include "scenarios/language/library/kernel_laws.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "scenarios/language/case.hpp"
#include "scenarios/language/library/calibration_writer.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

KernelLaws some_laws() {
  KernelLaws laws;
  laws.run_spread = 0.1 / 3;
  KernelLaw line;
  line.key = "gemm type=fp32";
  line.fixed_s = 1e-6;
  line.flop_s = 1.0 / 3e10;
  line.byte_s = 1e-11;
  line.shapes = {{64, 2048, 1024, -0.1 / 3, 0.1 / 3}, {256, 256, 256, 0.02}};
  line.slowdown = {0.1 / 3, 0.01};
  line.disturbed = 0.3;
  line.spread = 0.02;
  line.least = 100;
  line.most = 1e9;
  KernelLaw curve;
  curve.key = "rs-encode k=8 m=2";
  curve.curve.sizes = {1000, 2000, 1.0 / 3 * 1e7};
  curve.curve.seconds = {1e-6, 1e-6, 1e-3};
  curve.spread = curve.curve.spread = 0.05;
  laws.laws = {line, curve};
  return laws;
}

class KernelLawsFile : public ::testing::Test {
 protected:
  // Each test has its own folder, because tests run concurrently.
  void SetUp() override {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::path(::testing::TempDir()) / (std::string("kernel_laws_") + test->name());
    std::filesystem::create_directories(folder_);
  }
  std::string written(const std::string& text) {
    const std::string path = (folder_ / "kernel_laws.yaml").string();
    std::ofstream(path) << text;
    return path;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(KernelLawsFile, ReadsBackToTheLastBit) {
  const std::string text = kernel_laws_text(some_laws());
  const KernelLaws read = read_kernel_laws(written(text));
  EXPECT_EQ(kernel_laws_text(read), text);
  EXPECT_EQ(read.laws[0].slowdown, some_laws().laws[0].slowdown);
  EXPECT_EQ(read.laws[0].disturbed, 0.3);
  EXPECT_EQ(read.laws[1].slowdown, Slowdown{});
}

TEST_F(KernelLawsFile, FaultsHaveTheirPlace) {
  const std::string text = kernel_laws_text(some_laws());
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"flop_s", "flops_s"},
           {"byte_s: 1e-11", "byte_s: -1"},
           {"[1000, 2000,", "[2000, 1000,"},
           {"[1000, 2000,", "[1000, 1000,"},
           {"[1e-06, 1e-06,", "[1e-06,"},
           {"spread: 0.02", "spread: wide"},
           {"[64, 2048, 1024,", "[64, -2048, 1024,"},
           {"[64, 2048, 1024,", "[64, 2048,"},
           {"gemm type=fp32", "gmm type=fp32"},
           {"      fixed_s: 1e-06\n", ""},
           {"sizes_bytes", "fixed_s"},
       }) {
    std::string faulty = text;
    const size_t at = faulty.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    faulty.replace(at, from.size(), to);
    EXPECT_TRUE(fails([&] { read_kernel_laws(written(faulty)); }, "kernel_laws.yaml:"));
  }
}

TEST_F(KernelLawsFile, IsPartOfACalibrationThatIsReadAndWritten) {
  Calibration calibration = library_calibrations().front();
  EXPECT_TRUE(calibration.kernel_laws.laws.empty());
  calibration.kernel_laws = some_laws();
  const std::string text = calibration_text(calibration, "a test");
  const Calibration read = read_calibration(parse_document(text, "own.yaml"));
  EXPECT_EQ(kernel_laws_text(read.kernel_laws), kernel_laws_text(some_laws()));
  EXPECT_EQ(calibration_text(read, "a test"), text);
}

// The measured laws are part of the key under which results are stored.
TEST_F(KernelLawsFile, BelongsToTheKeyOfACase) {
  Calibration calibration = library_calibrations().front();
  const auto key = [&] {
    const std::string path = written(calibration_text(calibration, "a test"));
    return parse_case(
               "name: a\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\nbatch: {global: "
               "64}\n"
               "calibration: kernel_laws.yaml\n",
               (folder_ / "a.yaml").string())
        .key;
  };
  const std::string without = key();
  calibration.kernel_laws = some_laws();
  const std::string with = key();
  EXPECT_NE(with, without);
  EXPECT_EQ(with, key());
  calibration.kernel_laws.laws[0].flop_s *= 1 + 1e-12;
  EXPECT_NE(with, key());
}

TEST_F(KernelLawsFile, SaysWhoWritesThem) {
  EXPECT_TRUE(fails([&] { read_kernel_laws(written("name: x\n")); }, "calibrate --backend"));
}

}  // namespace
}  // namespace windtunnel
