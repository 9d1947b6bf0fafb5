#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "scenarios/language/text/scenario_text.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TEST(NamedFiles, ATextThatIsGivenStandsInThePlaceOfTheFile) {
  const std::string folder = ::testing::TempDir() + "named_files";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/a.csv") << "old";
  NamedFiles first(folder);
  EXPECT_EQ(first.text("a.csv"), "old");
  EXPECT_EQ(first.text("a.csv"), "old");
  ASSERT_EQ(first.read().size(), 1u);
  std::filesystem::remove_all(folder);
  NamedFiles again(folder, first.read());
  EXPECT_EQ(again.text("a.csv"), "old");
  EXPECT_EQ(again.read(), first.read());
  EXPECT_NE(error_of([&] { again.text("b.csv"); }).find("b.csv"), std::string::npos);
}

TEST(NamedFiles, OfALargeOneTheHashIsKept) {
  const std::string path = ::testing::TempDir() + "large.csv";
  const std::string text(NamedFiles::kMostKept + 1, 'x');
  std::ofstream(path) << text;
  NamedFiles files("");
  EXPECT_EQ(files.text(path), text);
  EXPECT_FALSE(files.read().front().text);
  EXPECT_EQ(files.read().front().hash, text_hash(text));
  EXPECT_NE(text_hash(text), text_hash(text + 'x'));
}

}  // namespace
}  // namespace windtunnel
