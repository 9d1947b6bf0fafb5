#include "traces/text/text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TEST(Text, Trims) {
  EXPECT_EQ(trimmed(" \ta b\t "), "a b");
  EXPECT_EQ(trimmed(" \t"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, SplitsIntoPartsAndLines) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("a,,b", ','), (Parts{"a", "", "b"}));
  EXPECT_EQ(split("", ','), Parts{""});
  EXPECT_EQ(lines_of("a\r\n\nb"), (Parts{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\n"), Parts{"a"});
  EXPECT_EQ(lines_of(""), Parts{});
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
      {::testing::TempDir() + std::string(5000, 'x'), "File name too long"}};
  for (const auto& [path, reason] : cases) {
    const std::string error = error_of([&, &path = path] { read_file(path); });
    EXPECT_NE(error.find("cannot be read: " + reason), std::string::npos) << error;
  }
}

// Renaming across file systems fails, and a file system without permissions cannot copy
// permissions.
TEST(Text, PutsInPlaceWhereItCannotRename) {
  namespace fs = std::filesystem;
  const std::string from = ::testing::TempDir() + fmt::format("windtunnel-put-{}", getpid());
  const std::string to = fmt::format("/dev/shm/windtunnel-put-{}", getpid());
  const std::string content(100'000, 'x');
  std::ofstream(from) << content;
  if (!std::ofstream(to)) GTEST_SKIP() << "no /dev/shm to write to";
  std::error_code renamed;
  fs::rename(to, from + "-2", renamed);
  if (renamed != std::errc::cross_device_link) {
    for (const std::string& each : {from, to, from + "-2"}) fs::remove(each);
    GTEST_SKIP() << "/dev/shm is no other file system";
  }
  fs::permissions(from, fs::perms::owner_all);
  fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write);
  put_in_place(from, to);
  EXPECT_EQ(read_file(to), content);
  EXPECT_EQ(fs::status(to).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_FALSE(fs::exists(from));
  fs::remove(to);
}

}  // namespace
}  // namespace windtunnel
