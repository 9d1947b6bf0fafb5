#include "traces/text/text.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TEST(Text, Trims) {
  EXPECT_EQ(trimmed(" \ta b\t "), "a b");
  EXPECT_EQ(trimmed(" \t"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, ReadsAWholeFile) {
  const std::string path = ::testing::TempDir() + "windtunnel-text";
  const std::string content = std::string(100'000, 'x') + '\0' + "\r\nend";
  std::ofstream(path, std::ios::binary) << content;
  EXPECT_EQ(read_file(path), content);
  std::ofstream(path, std::ios::binary | std::ios::trunc);
  EXPECT_EQ(read_file(path), "");
}

TEST(Text, WhatCannotBeReadIsTheUsersFault) {
  const std::pair<std::string, std::string> cases[] = {
      {::testing::TempDir() + "no-such-file", "No such file"},
      {::testing::TempDir(), "Is a directory"},
      {::testing::TempDir() + std::string(5000, 'x'), "File name too long"}};
  for (const auto& [path, reason] : cases) {
    const std::string error = error_of([&] { read_file(path); });
    EXPECT_NE(error.find("cannot be read: " + reason), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace windtunnel
