#include "scenarios/calibration_writer.hpp"

#include <gtest/gtest.h>

#include "models/base/random.hpp"
#include "scenarios/document.hpp"
#include "scenarios/library.hpp"
#include "scenarios/library_reader.hpp"

namespace windtunnel {
namespace {

void expect_read_back(const Calibration& written) {
  const std::string text = calibration_text(written, "a comment:\n{signs}: in it");
  const Calibration read = read_calibration(parse_document(text, "fitted.yaml"));
  EXPECT_EQ(read.name, written.name);
  EXPECT_EQ(read.gpu, written.gpu);
  for (const CalibrationField& field : calibration_fields()) {
    const Parameter& a = read.*field.member;
    const Parameter& b = written.*field.member;
    EXPECT_EQ(a.value, b.value) << field.name;
    EXPECT_EQ(a.low, b.low) << field.name;
    EXPECT_EQ(a.high, b.high) << field.name;
    EXPECT_EQ(a.origin, b.origin) << field.name;
    EXPECT_EQ(a.source, b.source) << field.name;
  }
}

TEST(CalibrationWriter, LibraryIsReadBack) {
  for (const Calibration& calibration : library_calibrations()) expect_read_back(calibration);
}

// Fitted numbers have 17 digits, sources any character.
TEST(CalibrationWriter, EveryBitAndEveryCharacterIsReadBack) {
  RandomStream random(21, RandomPurpose::test, 0);
  for (int replica = 0; replica < 50; ++replica) {
    Calibration calibration = library_calibrations().front();
    calibration.name = "true";  // a word of YAML's own
    calibration.gpu = replica % 2 == 0 ? "" : "a # b: c";
    for (const CalibrationField& field : calibration_fields()) {
      Parameter& parameter = calibration.*field.member;
      const double scale = parameter.value > 0 ? parameter.value : 0.1;
      parameter.low = scale * random.uniform() / 2;
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
