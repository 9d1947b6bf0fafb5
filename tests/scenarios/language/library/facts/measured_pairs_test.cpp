#include "scenarios/language/library/facts/measured_pairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;

std::vector<MeasuredPairs> read(const std::string& text) {
  return read_measured_pairs(parse_document(text, "pairs.yaml"));
}

TEST(MeasuredPairs, TheLibraryHasEveryKey) {
  const MeasuredPairs& any = pairs_of(measured_pairs(), {"model.layers", "software.base"});
  EXPECT_EQ(any.keys, std::vector<std::string>{""});
  EXPECT_NE(&pairs_of(measured_pairs(), {"layout.tp"}), &any);
  for (const MeasuredPairs& pairs : measured_pairs()) {
    EXPECT_GE(pairs.sources, 2) << pairs.differs;
    EXPECT_GT(pairs.error, 0) << pairs.differs;
  }
}

TEST(MeasuredPairs, TheTextIsReadAgain) {
  const std::string text = measured_pairs_text(measured_pairs());
  EXPECT_EQ(measured_pairs_text(read(text)), text);
}

TEST(MeasuredPairs, TheLastEntryHasTheKeysOfAll) {
  try {
    read(
        "- {differs: layout, keys: [layout], pairs: 3, sources: 2, error: 0.1, share: 0.1, "
        "spread: 0.2}\n");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("pairs.yaml:1"));
    EXPECT_THAT(error.what(), HasSubstr("any key"));
  }
}

}  // namespace
}  // namespace windtunnel
