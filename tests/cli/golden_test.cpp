// Commands in, exact text out. WINDTUNNEL_UPDATE_GOLDEN=1 writes the files of tests/cli/golden
// anew; read their diff before you commit it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "models/base/version.hpp"
#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

// Which differs with every commit.
std::string without_commit(std::string text) {
  const std::string build = program_build();
  const size_t at = text.find(build);
  return at == std::string::npos ? text : text.replace(at, build.size(), program_version());
}

struct GoldenCase {
  const char* name;
  const char* arguments;
};

const GoldenCase kCases[] = {
    {"no-arguments", ""},
    {"help", "--help"},
    {"help-run", "run --help"},
    {"help-compare", "compare --help"},
    {"help-validate", "validate schedules --help"},
    {"version", "--version"},
    {"command-misspelt", "rnu scenarios/small.yaml"},
    {"command-unknown", "xylophone"},
    {"option-misspelt", "run scenarios/small.yaml --jsn"},
    {"option-unlike-any", "schema --x"},
    {"option-before-command", "--jason run scenarios/small.yaml"},
    {"argument-missing", "run"},
    {"argument-too-many", "run scenarios/small.yaml scenarios/small.yaml"},
    {"threads-out-of-range", "run scenarios/small.yaml -j 0"},
    {"scenario-missing", "run no-such-file.yaml"},
    {"set-without-value", "run scenarios/small.yaml --set layout.pp"},
    {"set-unknown-key", "run scenarios/small.yaml --set layuot.pp=2"},
    {"out-is-a-file", "run scenarios/small.yaml --out CMakeLists.txt"},
    {"vary-missing", "compare scenarios/small.yaml"},
    {"vary-open-bracket", "compare scenarios/small.yaml --vary 'schedule={name: gpipe,1f1b'"},
    {"vary-empty-value", "compare scenarios/small.yaml --vary layout.pp=1,,2"},
    {"vary-twice", "compare scenarios/small.yaml --vary layout.pp=1 --vary layout.pp=2"},
    {"compare-scenario-missing", "compare no-such-file.yaml --vary layout.pp=1,2"},
    {"compare-all-infeasible", "compare scenarios/small.yaml --vary layuot.pp=1,2"},
    {"list-unknown", "list gpu"},
    {"list-gpus", "list gpus"},
    {"list-compressors", "list compressors"},
    {"list-schedules", "list schedules"},
    {"list-snapshots", "list snapshots"},
    {"list-snapshots-json", "list snapshots --json"},
    {"list-recoveries", "list recoveries"},
    {"report-missing", "report no-such-folder"},
    {"validate-what", "validate"},
    {"validate-misspelt", "validate schedule rows.csv"},
    {"validate-missing-file", "validate schedules no-such-file.csv"},
};

class Golden : public testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, Matches) {
  const GoldenCase& the_case = GetParam();
  const ProgramResult result = run_program(the_case.arguments);
  const std::string text =
      fmt::format("$ windtunnel {}\nexit code {}\n--- stdout\n{}--- stderr\n{}", the_case.arguments,
                  result.exit_code, without_commit(result.out), result.err);
  const std::string path =
      fmt::format("{}/tests/cli/golden/{}.txt", WINDTUNNEL_SOURCE_DIR, the_case.name);
  if (std::getenv("WINDTUNNEL_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, read_text(path)) << path;
}

std::string name_of(const testing::TestParamInfo<GoldenCase>& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cli, Golden, testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace windtunnel
