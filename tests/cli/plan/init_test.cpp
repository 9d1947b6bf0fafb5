#include <gtest/gtest.h>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

TEST(InitCommand, WritesAScenarioThatRuns) {
  const std::string file = scratch_folder("init") + "/mine.yaml";
  const ProgramResult written = run_program("init " + file + " --cluster '4 x dgx-a100'");
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_NE(written.out.find("windtunnel run " + file), std::string::npos);
  const std::string text = read_text(file);
  EXPECT_NE(text.find("# the machine"), std::string::npos) << text;
  const ProgramResult ran = run_program("run " + file);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("32 a100-80 GPUs"), std::string::npos);
}

TEST(InitCommand, OverwritesNothingUnasked) {
  const std::string file = scratch_folder("init_again") + "/mine.yaml";
  ASSERT_EQ(run_program("init " + file).exit_code, 0);
  const std::string first = read_text(file);
  const ProgramResult again =
      run_program("init " + file + " --model gpt3-175b --cluster '64 h100 nodes'");
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("--force"), std::string::npos) << again.err;
  EXPECT_EQ(read_text(file), first);
  EXPECT_EQ(run_program("init " + file + " --force").exit_code, 0);
}

}  // namespace
}  // namespace windtunnel
