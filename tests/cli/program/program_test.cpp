// Commands in, exact text out. WINDTUNNEL_UPDATE_GOLDEN=1 writes the files of tests/cli/golden
// anew; read their diff before you commit it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = fmt::format("{}/tests/cli/golden/{}.txt", WINDTUNNEL_SOURCE_DIR, name);
  if (std::getenv("WINDTUNNEL_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, read_text(path)) << path;
}

// What is said in a few lines, and the exit code.
TEST(Golden, Messages) {
  std::string text;
  for (const char* arguments : {
           "--version",
           "rnu scenarios/small.yaml",
           "xylophone",
           "run scenarios/small.yaml --jsn",
           "--jason run scenarios/small.yaml",
           "run",
           "run scenarios/small.yaml scenarios/small.yaml",
           "run scenarios/small.yaml -j 0",
           "run no-such-file.yaml",
           "run scenarios/small.yaml --set layout.pp",
           "run scenarios/small.yaml --set layuot.pp=2",
           "run scenarios/small.yaml --out CMakeLists.txt",
           "compare scenarios/small.yaml",
           "compare scenarios/small.yaml --vary 'schedule={name: gpipe,1f1b'",
           "compare scenarios/small.yaml --vary layout.pp=1,,2",
           "compare scenarios/small.yaml --vary layout.pp=1 --vary layout.pp=2",
           "compare no-such-file.yaml --vary layout.pp=1,2",
           "compare scenarios/small.yaml --vary layuot.pp=1,2",
           "list gpu",
           "report no-such-folder",
           "validate",
           "validate schedule rows.csv",
           "validate schedules no-such-file.csv",
       }) {
    const ProgramResult result = run_program(arguments);
    text += fmt::format("$ windtunnel {} => {}\n{}{}", arguments, result.exit_code, result.out,
                        result.err);
  }
  expect_golden("messages", text);
}

TEST(Golden, HelpAndLists) {
  for (const auto& [name, arguments] : std::map<std::string, std::string>{
           {"help", "--help"},
           {"help-run", "run --help"},
           {"help-compare", "compare --help"},
           {"help-validate", "validate schedules --help"},
           {"list-recoveries", "list recoveries"},
       }) {
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 0) << arguments;
    EXPECT_EQ(result.err, "") << arguments;
    expect_golden(name, result.out);
  }
}

TEST(Golden, WithoutArgumentsTheHelpIsAnError) {
  const ProgramResult result = run_program("");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, run_program("--help").out);
}

}  // namespace
}  // namespace windtunnel
