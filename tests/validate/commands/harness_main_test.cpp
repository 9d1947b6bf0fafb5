// Tests the output and exit codes of windtunnel-harness without measuring, which would take minutes
// or need devices.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

void expect_error(const ProgramResult& result, int exit_code, const std::string& words) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "");
}

// Sets the variables of a launcher until the object is destroyed.
class Variables {
 public:
  using Values = std::map<std::string, std::string>;

  explicit Variables(const Values& values) : values_(values) {
    for (const auto& [name, value] : values_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const auto& [name, value] : values_) unsetenv(name.c_str());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  Values values_;
};

std::string file_in(const std::string& folder, const char* name) {
  std::ofstream(folder + "/" + name) << "mine\n";
  return folder + "/" + name;
}

TEST(Harness, HasTheCommandsOfANode) {
  const ProgramResult help = run_program("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* words : {"calibrate", "validate", "Exit codes"}) {
    EXPECT_NE(help.out.find(words), std::string::npos) << words;
  }
  EXPECT_EQ(run_program("--version").out.substr(0, 19), "windtunnel-harness ");
  EXPECT_NE(run_program("validate samples --help").out.find("--calibration"), std::string::npos);
  expect_error(run_program("validate runs x.csv"), 2, "samples");
  expect_error(run_program("calibrate --out x.yaml"), 2, "--backend is required");
}

TEST(Harness, SaysWhyThereIsNoGpu) {
  const std::string folder = scratch_folder("harness-gpu");
  // Devices are hidden from the program if there are any.
  const Variables hidden(Variables::Values{{"CUDA_VISIBLE_DEVICES", ""}});
  const ProgramResult result = run_program("calibrate --backend cuda --out " + folder + "/x.yaml");
  expect_error(result, 2, "--backend cuda: ");
  EXPECT_NE(result.err.find("--backend cpu measures this machine's cores"), std::string::npos);
  EXPECT_EQ(result.err.find("internal error"), std::string::npos);
}

TEST(Harness, KeepsAFileThatIsThere) {
  const std::string out = file_in(scratch_folder("harness-out"), "node.yaml");
  expect_error(run_program("calibrate --backend cpu --out " + out), 2, "exists; --force");
  EXPECT_EQ(read_text(out), "mine\n");
}

// Both ranks end at once, and the first reports the reason for both.
TEST(Harness, LaunchedRanksEndTogether) {
  const std::string folder = scratch_folder("harness-ranks");
  const std::string out = file_in(folder, "node.yaml");
  const std::string job = fmt::format("harness-test-{}", getpid());
  Variables place(Variables::Values{{"OMPI_COMM_WORLD_SIZE", "2"},
                                    {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                    {"PMIX_NAMESPACE", job},
                                    {"OMPI_COMM_WORLD_RANK", "1"}});
  const std::string arguments = "calibrate --backend cpu --out " + out;
  const int started =
      std::system(fmt::format("('{0}' {1} >'{2}/other' 2>&1; echo $? >'{2}/code') &",
                              WINDTUNNEL_PROGRAM, arguments, folder)
                      .c_str());
  EXPECT_EQ(started, 0);
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  expect_error(run_program(arguments), 2, "exists; --force");
  for (int tries = 0; tries < 600 && read_text(folder + "/code").empty(); ++tries) {
    std::system("sleep 0.1");
  }
  EXPECT_EQ(read_text(folder + "/code"), "0\n");
  EXPECT_EQ(read_text(folder + "/other"), "");
  EXPECT_EQ(read_text(out), "mine\n");
}

TEST(Harness, ARanksPlaceMustBeOne) {
  const Variables place(
      Variables::Values{{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}});
  expect_error(run_program("calibrate --backend cpu --out /tmp/x.yaml"), 2, "RANK is '2'");
}

TEST(Harness, OptionsMustFitTheLauncher) {
  {
    const Variables place(
        Variables::Values{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}});
    expect_error(run_program("calibrate --backend cpu --ranks 3 --out /tmp/x.yaml"), 2,
                 "the launcher started 2");
    expect_error(run_program("calibrate --backend cpu --coordinator nowhere: --out /tmp/x.yaml"), 2,
                 "is not an address");
  }
  expect_error(run_program("calibrate --backend cpu --coordinator node1 --out /tmp/x.yaml"), 2,
               "no launcher started this process");
}

}  // namespace
}  // namespace windtunnel
