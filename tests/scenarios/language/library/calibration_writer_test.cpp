#include "scenarios/language/library/calibration_writer.hpp"

#include <gtest/gtest.h>

#include "models/base/random.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

void expect_same(const Parameter& a, const Parameter& b, std::string_view name) {
  EXPECT_EQ(a.value, b.value) << name;
  EXPECT_EQ(a.low, b.low) << name;
  EXPECT_EQ(a.high, b.high) << name;
  EXPECT_EQ(a.origin, b.origin) << name;
  EXPECT_EQ(a.source, b.source) << name;
  EXPECT_EQ(a.fitted_on, b.fitted_on) << name;
}

void expect_read_back(const Calibration& written) {
  const std::string text = calibration_text(written, "a comment:\n{signs}: in it");
  const Calibration read = read_calibration(parse_document(text, "fitted.yaml"));
  EXPECT_EQ(read.name, written.name);
  EXPECT_EQ(read.gpu, written.gpu);
  for (const CalibrationField& field : calibration_fields()) {
    expect_same(read.*field.member, written.*field.member, field.name);
  }
  EXPECT_EQ(read.network.stated, written.network.stated);
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    expect_same(read.network.*field.member, written.network.*field.member, field.name);
  }
}

TEST(CalibrationWriter, LibraryIsReadBack) {
  for (const Calibration& calibration : library_calibrations()) expect_read_back(calibration);
}

TEST(CalibrationWriter, ALawOfTheNetworkIsReadBack) {
  Calibration calibration = library_calibrations().front();
  for (const Transport transport : {Transport::infiniband, Transport::slingshot, Transport::tcp}) {
    calibration.network = specified_interconnect_law(find_node("dgx-h100"), transport);
    expect_read_back(calibration);
    calibration.network.launch.value *= 1.0 / 3;
    calibration.network.launch.low = calibration.network.launch.value;
    calibration.network.pair_step_s.value *= 1.0 / 3;
    calibration.network.pair_step_s.low = calibration.network.pair_step_s.value;
    expect_read_back(calibration);
  }
}

// Fitted numbers have 17 digits, and sources may contain any character.
TEST(CalibrationWriter, EveryBitAndEveryCharacterIsReadBack) {
  RandomStream random(21, RandomPurpose::test, 0);
  for (int replica = 0; replica < 50; ++replica) {
    Calibration calibration = library_calibrations().front();
    calibration.name = "true";  // means a boolean in YAML
    calibration.gpu = replica % 2 == 0 ? "" : "a # b: c";
    for (const CalibrationField& field : calibration_fields()) {
      Parameter& parameter = calibration.*field.member;
      const double scale = parameter.value > 0 ? parameter.value : 0.1;
      const double least = field.name == "convolution.winograd" ? 1 : 0;
      parameter.low = least + scale * random.uniform() / 2;
      parameter.value = parameter.low + scale * random.uniform() / 4;
      parameter.high = parameter.value + scale * random.uniform() / 4;
      parameter.origin = static_cast<Origin>(random.below(kOrigins));
      parameter.source = "rows \"of\" C:\\rows.csv\twhere a<1 & b='x'\n# 2 µs\x7f\x01";
    }
    expect_read_back(calibration);
  }
}

}  // namespace
}  // namespace windtunnel
