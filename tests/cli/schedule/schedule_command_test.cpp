#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

std::string write(const std::string& folder, const std::string& name, const std::string& text) {
  std::string path = folder + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(ScheduleCommand, WhatIsExportedIsImported) {
  const std::string folder = scratch_folder("schedule");
  const std::string options = " --ranks 4 --microbatches 8 --out " + folder + "/a.csv";
  for (const std::string form : {"--torch", "--torch --comms", "--torch --comms --fsdp"}) {
    const ProgramResult written = run_program("schedule export zb-v " + form + options);
    ASSERT_EQ(written.exit_code, 0) << written.err;
    const ProgramResult read = run_program("schedule import " + folder + "/a.csv --out " + folder +
                                           "/b.csv --page " + folder + "/b.html");
    EXPECT_NE(read_text(folder + "/b.html").find("data-chart=\"0\""), std::string::npos);
    ASSERT_EQ(read.exit_code, 0) << read.err;
    EXPECT_NE(read.out.find("4 ranks, 8 stages, 8 micro-batches; dialect I, W, B"),
              std::string::npos)
        << read.out;
    EXPECT_EQ(read_text(folder + "/a.csv"), read_text(folder + "/b.csv")) << form;
  }
}

TEST(ScheduleCommand, DoesNotWriteOverItsInput) {
  const std::string file = write(scratch_folder("schedule_over_input"), "mine.csv", "mine");
  for (const std::string command : {"export ", "import "}) {
    const ProgramResult refused = run_program("schedule " + command + file + " --out " + file);
    EXPECT_EQ(refused.exit_code, 2) << command;
    EXPECT_NE(refused.err.find("mine.csv: the command reads this file"), std::string::npos)
        << refused.err;
  }
  EXPECT_EQ(read_text(file), "mine");
}

TEST(ScheduleCommand, WritesItsPage) {
  const std::string page = scratch_folder("schedule_page") + "/page.html";
  for (const std::string command :
       {"show zb-h1 --ranks 4 --microbatches 8",
        "search --ranks 2 --microbatches 3 --times 1,1,1 --effort 0.01"}) {
    const ProgramResult result = run_program("schedule " + command + " --page " + page);
    ASSERT_EQ(result.exit_code, 0) << command << result.err;
    const std::string text = read_text(page);
    EXPECT_NE(text.find("<h2>Bubbles</h2>"), std::string::npos) << command;
    EXPECT_EQ(text.find("<h2>What was found, and") != std::string::npos,
              command.starts_with("search"))
        << command;
  }
}

TEST(ScheduleCommand, APageThatCannotBeWrittenTakesTheAnswerFromNobody) {
  const std::string page = scratch_folder("schedule_no_page") + "/page.html";
  std::filesystem::create_directories(page + "/full");
  const ProgramResult result = run_program("schedule show 1f1b --page " + page);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("makespan"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("cannot write"), std::string::npos) << result.err;
}

TEST(ScheduleCommand, AnImportedScheduleIsLoweredAsAnExportedOne) {
  const std::string folder = scratch_folder("schedule-lower");
  run_program("schedule export 1f1b --ranks 2 --microbatches 3 --out " + folder + "/a.csv");
  const ProgramResult exported =
      run_program("schedule export 1f1b --ranks 2 --microbatches 3 --comms --fsdp");
  const ProgramResult imported = run_program("schedule import " + folder + "/a.csv --lower --fsdp");
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(imported.out, exported.out);
  EXPECT_NE(imported.err.find("dialect I, W, B"), std::string::npos) << imported.err;
}

TEST(ScheduleCommand, ReplicasNeedTheExtension) {
  const std::string command = "schedule export chimera --ranks 2 --microbatches 2";
  const ProgramResult plain = run_program(command);
  EXPECT_EQ(plain.exit_code, 2);
  EXPECT_NE(plain.err.find("--extended"), std::string::npos) << plain.err;
  const ProgramResult extended = run_program(command + " --extended");
  EXPECT_EQ(extended.exit_code, 0) << extended.err;
  EXPECT_NE(extended.out.find("0@1F1"), std::string::npos) << extended.out;
}

TEST(ScheduleCommand, WrongFilesAreRefusedWithTheirPlace) {
  const std::string folder = scratch_folder("schedule-bad");
  const std::string cell = write(folder, "cell.csv", "0F0,0B0\r\n1F0,1B0x\r\n");
  const std::string stuck = write(folder, "stuck.csv", "0F0,0B0,0F1,0B1\r\n1F1,1F0,1B0,1B1\r\n");
  const std::pair<std::string, std::string> cases[] = {
      {cell, cell + ":2:2: '1B0x': 'x' follows the action"},
      {stuck, stuck + ":1:2: '0B0' of rank 0: waits forever, because the ranks deadlock"}};
  for (const auto& [path, message] : cases) {
    for (const std::string command : {"schedule import ", "schedule show "}) {
      const ProgramResult result = run_program(command + path);
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    }
  }
}

TEST(ScheduleCommand, AFileIsShownAsTheNameItCameFrom) {
  const std::string folder = scratch_folder("schedule-show");
  const std::string path = folder + "/a.csv";
  run_program("schedule export zb-h1 --ranks 4 --microbatches 6 --comms --out " + path);
  const std::string costs = " --times 1,1.5,0.5 --message 0.1";
  const ProgramResult named = run_program("schedule show zb-h1 --ranks 4 --microbatches 6" + costs);
  const ProgramResult filed = run_program("schedule show " + path + costs);
  ASSERT_EQ(named.exit_code, 0) << named.err;
  ASSERT_EQ(filed.exit_code, 0) << filed.err;
  // From the makespan on, both outputs are the same.
  const auto numbers = [](const std::string& text) {
    const size_t at = text.find("makespan");
    return at == std::string::npos ? "no makespan" : text.substr(at);
  };
  EXPECT_EQ(numbers(named.out), numbers(filed.out));
  EXPECT_NE(filed.out.find("dialect I, W, B; names its messages"), std::string::npos) << filed.out;
}

TEST(ScheduleCommand, AScenarioGivesTheNumbersThatAreNotGiven) {
  const ProgramResult result =
      run_program("schedule show zb-v --scenario scenarios/small.yaml --set batch.global=32");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("zb-v, 2 ranks, 8 micro-batches, 2 chunks of small"), std::string::npos)
      << result.out;
  const ProgramResult both =
      run_program("schedule show zb-v --ranks 4 --scenario scenarios/small.yaml");
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_NE(both.err.find("--ranks"), std::string::npos) << both.err;
}

TEST(ScheduleCommand, NumbersThatCannotBeAreRefused) {
  const std::pair<std::string, std::string> cases[] = {
      {"zb-h1 --ranks -3", "at least 1 rank"},
      {"zb-h1 --ranks 2000000000", "too large"},
      {"interleaved-1f1b --chunks 2000000000", "too large"},
      {"seq1f1b --slices -1", "not 4, 8, 1, -1"},
      {"zb-h1 --jitter nan", "not in range"},
      {"zb-h1 --slow nan", "not in range"},
      {"zb-h1 --dialect old", "--dialect describes a torch CSV"},
      {"zb-h1 --message '1 ms'", "--times and --message"}};
  for (const auto& [arguments, message] : cases) {
    const ProgramResult result = run_program("schedule show " + arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  }
}

TEST(ScheduleCommand, TimesAreThree) {
  for (const std::string times : {"1,2", "1,2,3,4", "1,x,3", "1,2,-3", "'1 ms,2,3'"}) {
    const ProgramResult result = run_program("schedule show 1f1b --times " + times);
    EXPECT_EQ(result.exit_code, 2) << times;
    EXPECT_NE(result.err.find("--times"), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace windtunnel
