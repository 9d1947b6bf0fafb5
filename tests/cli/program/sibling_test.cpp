// Tests commands that belong to windtunnel-validate and are called through windtunnel.
#include "cli/program/sibling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Copies the program into a folder of its own.
class ProgramAlone : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = scratch_folder("alone-" + test);
    fs::copy_file(WINDTUNNEL_PROGRAM, program());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string program() const { return folder_ + "/windtunnel"; }
  ProgramResult run(const std::string& arguments) const {
    return run_program_of(program(), arguments);
  }
  // Adds a sibling that prints its arguments.
  void put_sibling() const {
    const std::string path = folder_ + "/windtunnel-validate";
    std::ofstream(path) << "#!/bin/sh\nfor word; do echo \"<$word>\"; done\nexit 3\n";
    fs::permissions(path, fs::perms::owner_all);
  }

 private:
  std::string folder_;
};

TEST_F(ProgramAlone, SaysWhichProgramIsMissing) {
  for (const auto& [name, help] : kSiblingCommands) {
    for (const std::string before : {"", "help "}) {
      const ProgramResult result = run(before + name);
      EXPECT_EQ(result.exit_code, 2) << name;
      EXPECT_EQ(result.out, "");
      EXPECT_THAT(result.err, StartsWith("windtunnel: '" + std::string(name) +
                                         "' is a command of "
                                         "windtunnel-validate, which cannot be run: "));
      EXPECT_THAT(result.err, AllOf(HasSubstr("/windtunnel-validate: No such file or directory"),
                                    HasSubstr("./dev build")));
    }
  }
}

TEST_F(ProgramAlone, ListsTheCommandsOfItsSibling) {
  const ProgramResult help = run("--help");
  const ProgramResult completed = run("__complete ''");
  const ProgramResult manual = run("man");
  EXPECT_EQ(help.exit_code, 0) << help.err;
  EXPECT_EQ(completed.exit_code, 0) << completed.err;
  EXPECT_EQ(manual.exit_code, 0) << manual.err;
  EXPECT_EQ(manual.err, "");
  for (const auto& [name, about] : kSiblingCommands) {
    EXPECT_THAT(help.out, AllOf(HasSubstr("\n  " + std::string(name) + " "), HasSubstr(about)));
    EXPECT_THAT(completed.out, HasSubstr(std::string("\n") + name + "\t" + about + "\n"));
    EXPECT_THAT(manual.out, HasSubstr(std::string("\n.SS ") + name + "\n" + about + ".\n"));
  }
  EXPECT_THAT(manual.out, HasSubstr("windtunnel\\-validate, which is built and packaged together"));
}

TEST_F(ProgramAlone, HandsArgumentsAndExitCodesOn) {
  put_sibling();
  const auto expect_same = [&](const std::string& arguments, const std::string& words) {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 3) << arguments;
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.out, words) << arguments;
  };
  expect_same("validate runs 'a b.csv' --json -q",
              "<validate>\n<runs>\n<a b.csv>\n<--json>\n<-q>\n");
  expect_same("calibrate --help", "<calibrate>\n<--help>\n");
  expect_same("help execute", "<help>\n<execute>\n");
  expect_same("-q validate", "<-q>\n<validate>\n");
  expect_same("__complete validate --", "<__complete>\n<validate>\n<-->\n");
  EXPECT_EQ(run("__complete validate").exit_code, 0) << "the word is not ended yet";
  EXPECT_EQ(run("list validate").exit_code, 2) << "no command";
}

// If the sibling fails, the manual is the one that is printed without a sibling.
TEST_F(ProgramAlone, ManualOutlivesASiblingThatFails) {
  const std::string manual = run("man").out;
  put_sibling();
  EXPECT_EQ(run("man").out, manual);
}

TEST(Sibling, HasTheCommandsThatItsNameStandsFor) {
  if (!WINDTUNNEL_VALIDATE) GTEST_SKIP() << "built without windtunnel-validate";
  const ProgramResult options = run_program("__complete validate runs --f");
  EXPECT_EQ(options.exit_code, 0) << options.err;
  EXPECT_THAT(options.out, HasSubstr("\n--fail-above\t"));
  const ProgramResult help = run_program("help validate");
  EXPECT_EQ(help.exit_code, 0) << help.err;
  EXPECT_THAT(help.out, HasSubstr("\nUsage: windtunnel validate [OPTIONS]"));
  EXPECT_EQ(help.out, run_program("validate --help").out);
  const ProgramResult wrong = run_program("validate schedule rows.csv");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err,
              AllOf(StartsWith("windtunnel: "), HasSubstr("see 'windtunnel validate --help'")));
}

}  // namespace
}  // namespace windtunnel
