// A step of a perceptron on two cores must equal the sum of its kernels and collectives, each by
// its measured law from a calibration file.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "models/workload/layer_table.hpp"
#include "scenarios/language/library/calibration_writer.hpp"
#include "scenarios/language/library/library.hpp"
#include "sim/study/simulate.hpp"
#include "tests/support/straight_laws.hpp"
#include "validate/accuracy/samples/sample_accuracy.hpp"

namespace windtunnel {
namespace {

KernelLaws machine() {
  KernelLaws laws;
  laws.laws = {line_of("gemm type=fp32", 3e-6, 1 / 2.5e10, 2e-12),
               curve_of("add", 1e-6, 1e-10),
               curve_of("scale", 2e-6, 1.5e-10),
               curve_of("sgd", 1e-6, 0.7e-10),
               curve_of("copy", 1e-6, 0.5e-10),
               curve_of("quantise-int8", 4e-6, 2e-10),
               curve_of("dequantise-int8", 3e-6, 1.2e-10),
               curve_of("requantise-int8", 5e-6, 3e-10),
               line_of("low-rank", 2e-6, 1e-10, 2e-11),
               line_of("low-rank-back", 2e-6, 2e-10, 3e-11),
               line_of("low-rank-subtract", 1e-6, 3e-11, 5e-11),
               line_of("low-rank-expand", 1e-6, 4e-11, 6e-11),
               line_of("orthonormalise", 1e-6, 3e-10, 4e-11),
               curve_of("all-reduce-ring ranks=2", 1e-4, 7e-10),
               curve_of("all-gather-ring ranks=2", 6e-5, 4e-10),
               curve_of("all-to-all-pairwise ranks=2", 8e-5, 5e-10)};
  return laws;
}

constexpr double kSamples = 64;
constexpr std::array<double, 5> kWidths = {1024, 2048, 2048, 2048, 1024};
constexpr int kLayers = 4;

class MeasuredStep : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    path_ = std::filesystem::path(::testing::TempDir()) / ("measured_step_" + test + ".yaml");
    Calibration calibration =
        calibration_of(laws_, calibration_of("generic"), {.source = "a test"});
    calibration.name = "measured_step";
    std::ofstream(path_) << calibration_text(calibration, "a test");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  Record simulated(const std::string& compressor, const std::string& fidelity) const {
    return simulate(load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/mlp-cpu.yaml",
                              {{"calibration", path_.string()},
                               {"communication.compressor", compressor},
                               {"communication.fidelity", fidelity}}),
                    {.threads = 1});
  }

  double law(const char* key, double bytes, double flops = 0) const {
    return law_time(*find_law(laws_, key), flops, bytes);
  }
  double gemm(double m, double n, double k) const {
    return law("gemm type=fp32", 4 * (m * k + k * n + m * n), 2 * m * n * k);
  }

  // Returns the time of all but the exchange of gradients.
  double computed_s() const {
    double seconds = 0;
    for (int i = 0; i < kLayers; ++i) {
      const double in = kWidths[i];
      const double out = kWidths[i + 1];
      seconds += gemm(kSamples, out, in) + gemm(out, in, kSamples);
      if (i > 0) seconds += gemm(kSamples, in, out);  // the input needs no gradient
      if (i + 1 < kLayers) {
        seconds += law("scale", 8 * kSamples * out) + law("add", 12 * kSamples * out);
      }
    }
    seconds += law("sgd", 12 * parameters());
    return seconds + law("all-reduce-ring ranks=2", 8);  // for the norm of the gradients
  }
  static double parameters() {
    double sum = 0;
    for (int i = 0; i < kLayers; ++i) sum += kWidths[i + 1] * (kWidths[i] + 1);
    return sum;
  }

  void expect_step(const std::string& compressor, double exchanged_s) const {
    const double expected_s = computed_s() + exchanged_s;
    for (const char* fidelity : {"closed", "flows"}) {
      const Record record = simulated(compressor, fidelity);
      EXPECT_NEAR(record.iteration.time_s, expected_s, 1e-6 * expected_s)
          << compressor << " " << fidelity;
    }
  }

  std::filesystem::path path_;
  KernelLaws laws_ = machine();
};

// Every bucket of 8 MB holds one of the matrices and its bias.

TEST_F(MeasuredStep, IsTheSumOfItsLaws) {
  double exchanged_s = 0;
  for (int i = 0; i < kLayers; ++i) {
    exchanged_s += law("all-reduce-ring ranks=2", 4 * kWidths[i + 1] * (kWidths[i] + 1));
  }
  expect_step("none", exchanged_s);
}

TEST_F(MeasuredStep, WithInt8) {
  const double scales = 4.0 / 256;
  double exchanged_s = 0;
  for (int i = 0; i < kLayers; ++i) {
    const double elements = kWidths[i + 1] * (kWidths[i] + 1);
    const double packed = elements * (1 + scales);
    exchanged_s += law("quantise-int8", 4 * elements + packed) +
                   law("all-to-all-pairwise ranks=2", packed) +
                   law("requantise-int8", 1.5 * packed) + law("all-gather-ring ranks=2", packed) +
                   law("dequantise-int8", 4 * elements + packed);
  }
  expect_step("int8", exchanged_s);
}

TEST_F(MeasuredStep, WithPowerSgd) {
  constexpr double kRank = 4;
  double exchanged_s = 0;
  for (int i = 0; i < kLayers; ++i) {
    const double n = kWidths[i + 1];
    const double m = kWidths[i];
    const double flops = 2 * n * m * kRank;
    const double product = 4 * (n * m + (n + m) * kRank);
    exchanged_s += law("add", 12 * n * m) + law("low-rank", product, flops) +
                   law("orthonormalise", 8 * n * kRank, 2 * n * kRank * kRank) +
                   law("low-rank-back", product, flops) + law("low-rank-expand", product, flops) +
                   law("low-rank-subtract", product + 4 * n * m, flops);
    // These are the bias and both factors.
    for (const double bytes : {4 * n, 4 * n * kRank, 4 * m * kRank}) {
      exchanged_s += law("all-reduce-ring ranks=2", bytes);
    }
  }
  expect_step("{name: powersgd, rank: 4}", exchanged_s);
}

TEST_F(MeasuredStep, NearlyAllOfItRestsOnMeasurement) {
  const Record record = simulated("none", "auto");
  // Only Adam's bytes do not rest on measurement.
  EXPECT_GT(record.origin[static_cast<int>(Origin::measured)], 0.85);
  EXPECT_LT(record.origin[static_cast<int>(Origin::assumed)], 1e-9);
}

}  // namespace
}  // namespace windtunnel
