// Compares the output of commands with exact texts. WINDTUNNEL_UPDATE_GOLDEN=1 writes the files of
// tests/cli/golden anew; read their diff before you commit it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "models/base/version.hpp"
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

// The text of the build changes with every commit, so that the version replaces it.
std::string without_commit(std::string text) {
  const std::string build = program_build();
  const size_t at = text.find(build);
  return at == std::string::npos ? text : text.replace(at, build.size(), program_version());
}

// The file lists commands, each with its message and its exit code.
TEST(Golden, Messages) {
  const std::string prefix = "$ windtunnel ";
  std::istringstream lines(read_text(WINDTUNNEL_SOURCE_DIR "/tests/cli/golden/messages.txt"));
  std::string text;
  int commands = 0;
  bool kept = false;  // keep the text of a command that is not built
  for (std::string line; std::getline(lines, line);) {
    const bool begins = line.starts_with(prefix);
    if (begins) kept = !is_built(line.substr(prefix.size()));
    commands += begins ? 1 : 0;
    if (kept) text += line + "\n";
    if (kept || !begins) continue;
    const std::string command = line.substr(0, line.rfind(" => "));
    const ProgramResult result = run_program(command.substr(prefix.size()));
    text += fmt::format("{} => {}\n{}{}", command, result.exit_code, without_commit(result.out),
                        result.err);
  }
  EXPECT_EQ(commands, 24);
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
    if (!is_built(arguments)) continue;
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 0) << arguments;
    EXPECT_EQ(result.err, "") << arguments;
    expect_golden(name, result.out);
  }
}

TEST(Program, HelpIsACommandToo) {
  const ProgramResult plan = run_program("help plan");
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_EQ(plan.out, run_program("plan --help").out);
  EXPECT_EQ(run_program("help").out, run_program("--help").out);
  const ProgramResult unknown = run_program("help nosuch");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("nosuch"), std::string::npos) << unknown.err;
}

TEST(Program, ALetterStandsForTheOptionThatBeginsSo) {
  const std::string err = run_program("run scenarios/small.yaml -o out").err;
  EXPECT_NE(err.find("unknown option '-o'; did you mean '--out'?"), std::string::npos) << err;
  EXPECT_EQ(run_program("run scenarios/small.yaml -y").err.find("did you mean"), std::string::npos);
}

TEST(Golden, WithoutArgumentsTheHelpIsAnError) {
  const ProgramResult result = run_program("");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, run_program("--help").out);
}

// Control characters would command the terminal, and a NUL would end the message.
TEST(Program, ShowsControlCharactersOfArgumentsAndFiles) {
  const std::string folder = scratch_folder("control_characters");
  const std::string scenario = folder + "/nul.yaml";
  std::ofstream(scenario) << "name: a\nmodel: \"a\\0b.yaml\"\nbatch: {global: 64}\n"
                          << "cluster: {nodes: 1, node: dgx-h100}\nlayout: {tp: 8}\n";
  const std::map<std::string, std::string> shown = {
      {R"sh(run "$(printf 'no\033[2Jfile.yaml')")sh", "no\\x1b[2Jfile.yaml: cannot be read"},
      {R"sh(run scenarios/small.yaml --set "$(printf 'model=a\033[2Jb')")sh", "a\\x1b[2Jb"},
      {R"sh(run "$(printf -- '--b\033[2J')")sh", "'--b\\x1b[2J'"},
      {"run " + scenario, "a\\x00b.yaml"}};
  for (const auto& [arguments, words] : shown) {
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find('\x1b'), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find('\0'), std::string::npos) << result.err;
  }
}

// Every reader with a limit of file size names the option that raises it, with a value that is
// enough.
TEST(FileLimit, IsNamedByEveryReaderAndByTheHelp) {
  const std::string folder = scratch_folder("file_limit");
  const std::string large = std::string(3000, ' ');
  for (const char* name : {"case.yaml", "record.json", "rows.csv"}) {
    std::ofstream(folder + "/" + name) << large;
  }
  for (const char* arguments :
       {"run DIR/case.yaml", "report DIR", "validate runs DIR/rows.csv",
        "validate collectives DIR/rows.csv", "calibrate --out none.yaml --from DIR/rows.csv",
        "schedule show DIR/rows.csv", "run scenarios/small.yaml --set calibration=DIR/case.yaml"}) {
    if (!is_built(arguments)) continue;
    std::string command = arguments;
    command.replace(command.find("DIR"), 3, folder);
    setenv("WINDTUNNEL_MAX_FILE_SIZE", "2500 B", 1);
    const ProgramResult refused = run_program(command);
    setenv("WINDTUNNEL_MAX_FILE_SIZE", "1GiB", 1);
    const ProgramResult raised = run_program(command);
    unsetenv("WINDTUNNEL_MAX_FILE_SIZE");
    EXPECT_EQ(refused.exit_code, 2) << command;
    EXPECT_NE(refused.err.find("WINDTUNNEL_MAX_FILE_SIZE=1GiB raises that"), std::string::npos)
        << command << "\n"
        << refused.err;
    EXPECT_EQ(raised.err.find("MAX_FILE_SIZE"), std::string::npos) << raised.err;
  }
  for (const char* page : {"--help", "man"}) {
    EXPECT_NE(run_program(page).out.find("WINDTUNNEL_MAX_FILE_SIZE"), std::string::npos) << page;
  }
}

}  // namespace
}  // namespace windtunnel
