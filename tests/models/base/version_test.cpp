#include "models/base/version.hpp"

#include <gtest/gtest.h>

#include <string>

namespace windtunnel {
namespace {

TEST(Version, NamesACommitWhereOneIsKnown) {
  const std::string commit = program_commit();
  EXPECT_EQ(program_build().starts_with(program_version()), true);
  EXPECT_EQ(program_build() == program_version(), commit.empty());
  if (commit.empty()) return;
  EXPECT_EQ(commit.substr(0, 12).find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_TRUE(commit.size() == 12 || commit.substr(12) == "-changed") << commit;
}

}  // namespace
}  // namespace windtunnel
