// Tests what newcomers meet first: examples in every help, quiet commands, width and emphasis on a
// terminal.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/help_pages.hpp"
#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

// Returns the example of a help text, without the program and the command; fails if there is none.
std::string example_of(const std::string& path, const std::string& help) {
  const std::string start = "\nExample:\n  windtunnel " + path;
  const size_t at = help.find(start);
  EXPECT_NE(at, std::string::npos) << "no example: " << help;
  if (at == std::string::npos) return "";
  return help.substr(at + start.size(), help.find('\n', at + start.size()) - at - start.size());
}

TEST(Help, EveryCommandHasAnExampleOfItsOwn) {
  ASSERT_GE(help_pages().size(), is_built("validate") ? 30U : 20U);
  for (const auto& [path, help] : help_pages()) {
    if (path.empty()) continue;  // the program's own help has several, in a golden file
    std::istringstream words(example_of(path, help));
    std::string subcommands = path;
    for (std::string word; words >> word;) {
      if (help_pages().contains(subcommands + " " + word)) subcommands += " " + word;
      if (word.starts_with("--")) {
        EXPECT_NE(help_pages().at(subcommands).find("  " + word), std::string::npos)
            << path << ": " << word;
      }
      if (word.starts_with("scenarios/")) {
        EXPECT_TRUE(std::filesystem::exists(WINDTUNNEL_SOURCE_DIR "/" + word)) << word;
      }
    }
  }
}

TEST(Help, NoLineIsLongerThanOthers) {
  for (const auto& [path, help] : help_pages()) {
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 160U) << path;
  }
}

// Checks that each list with this title is in order; returns the number of names in the longest
// list.
std::size_t expect_lists_in_order(const std::string& title) {
  std::size_t most = 0;
  for (const auto& [path, help] : help_pages()) {
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t at = line.find(title);
      if (at == std::string::npos) continue;
      EXPECT_EQ(line.find(title, at + 1), std::string::npos) << path << " has two: " << line;
      std::istringstream words(line.substr(at + title.size()));
      std::vector<std::string> names;
      for (std::string word; words >> word && word.starts_with('-');) names.push_back(word);
      EXPECT_TRUE(std::ranges::is_sorted(names)) << path << ": " << line;
      most = std::max(most, names.size());
    }
  }
  return most;
}

// CLI11 keeps these options in sets of pointers, whose order would change with each build.
TEST(Help, OptionsThatOneNeedsOrExcludesStandInOrder) {
  EXPECT_GE(expect_lists_in_order(" Excludes:"), 2U);
  EXPECT_GE(expect_lists_in_order(" Needs:"), 1U);
}

TEST(Help, EveryCommandCanBeQuiet) {
  for (const auto& [path, help] : help_pages()) {
    EXPECT_EQ(help.find("--quiet") != std::string::npos, !path.empty()) << path;
  }
}

TEST(Help, OptimiseIsSpeltBothWays) {
  const std::string arguments = " scenarios/small.yaml --over recompute --simulate 0 --quiet";
  const ProgramResult british = run_program("optimise" + arguments);
  EXPECT_EQ(british.exit_code, 0) << british.err;
  EXPECT_EQ(run_program("optimize" + arguments).out, british.out);
}

TEST(Quiet, LeavesTheAnswerAlone) {
  const ProgramResult loud = run_program("run scenarios/small.yaml");
  const ProgramResult quiet = run_program("run scenarios/small.yaml --quiet");
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(loud.out.substr(0, quiet.out.size()), quiet.out) << "less what is said at its end";
  EXPECT_NE(quiet.out.find("step time"), std::string::npos);

  const std::string folder = scratch_folder("quiet");
  const ProgramResult document =
      run_program("run scenarios/small.yaml --json -q --out " + folder + "/out");
  EXPECT_EQ(document.err, "");
  EXPECT_TRUE(nlohmann::json::parse(document.out).contains("iteration"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/out/report.html"));

  const ProgramResult notes = run_program(
      "run scenarios/small.yaml --quiet --set recovery.name=oobleck --set layout.vpp=1");
  EXPECT_EQ(notes.out.find("\nNotes\n"), std::string::npos) << notes.out;

  const ProgramResult wrong = run_program("run scenarios/small.yaml --quiet --set layout.tp=3");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err, "") << "an error is no note";
}

size_t longest_line(const std::string& text) {
  size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    size_t width = 0;
    for (const char c : line) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
    longest = std::max(longest, width);
  }
  return longest;
}

TEST(Width, TablesFitWhatColumnsSays) {
  const ProgramResult plain = run_program("list recoveries");
  EXPECT_LE(longest_line(plain.out), 160U) << "without a terminal as a page shows it";
  // An assignment in front of the command would apply to the `cd` in run_program() only.
  const auto at = [](const char* width, const std::string& arguments) {
    setenv("COLUMNS", width, 1);
    const ProgramResult result = run_program(arguments);
    unsetenv("COLUMNS");
    return result.out;
  };
  for (const char* width : {"100", "60", "40"}) {
    for (const std::string arguments : {"list recoveries", "list gpus", "schedule list"}) {
      EXPECT_LE(longest_line(at(width, arguments)), std::stoul(width)) << arguments;
    }
  }
  EXPECT_LE(longest_line(at("60", "run scenarios/small.yaml -q")), 60U) << "values go on below";
  EXPECT_GT(longest_line(at("9999", "list recoveries")), 200U) << "a row of the table is a line";
  EXPECT_EQ(at("wide", "list recoveries"), plain.out);
}

// Sections, notes and reasons are wrapped to the same width as tables.
TEST(Width, NoLineIsLongerThanAPageWhereNoTerminalSaysSo) {
  for (const std::string arguments :
       {"plan --cluster '4 x dgx-h100' --model llama3-8b --tokens '1 T' --days 60 --explain",
        "run scenarios/small.yaml --explain", "run scenarios/llama3-405b.yaml",
        "compare scenarios/small.yaml --vary layout.pp=1,2,3 --vary schedule=gpipe,1f1b",
        "optimise scenarios/small.yaml --over layout schedule --top 5", "list models",
        "list compressors"}) {
    const ProgramResult result = run_program(arguments);
    ASSERT_EQ(result.exit_code, 0) << arguments << "\n" << result.err;
    EXPECT_LE(longest_line(result.out), 160U) << arguments << "\n" << result.out;
  }
}

// Runs the program on a terminal of 70 columns, which script(1) provides.
std::string on_terminal(const std::string& before, const std::string& arguments) {
  const std::string folder = scratch_folder("terminal");
  const std::string command = "cd '" WINDTUNNEL_SOURCE_DIR "' && script -qec \"stty cols 70; " +
                              before + " '" WINDTUNNEL_PROGRAM "' " + arguments +
                              "\" /dev/null >'" + folder + "/out' </dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return read_text(folder + "/out");
}

TEST(Emphasis, IsForTerminalsThatWantIt) {
  if (std::system("command -v script >/dev/null") != 0) GTEST_SKIP() << "script is not installed";
  const std::string run = "run scenarios/small.yaml --quiet";
  EXPECT_NE(on_terminal("TERM=xterm", run).find("\x1b[1m"), std::string::npos);
  EXPECT_EQ(on_terminal("NO_COLOR=1", run).find('\x1b'), std::string::npos);
  EXPECT_EQ(on_terminal("TERM=dumb", run).find('\x1b'), std::string::npos);
  EXPECT_LE(longest_line(on_terminal("TERM=xterm", "list recoveries")), 71U) << "and a \\r";
}

}  // namespace
}  // namespace windtunnel
