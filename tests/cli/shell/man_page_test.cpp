// The manual page is written from the same table as the help, and groff reads it without a warning.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/cli/help_pages.hpp"
#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

// Returns the words as a reader sees them.
std::string without_escapes(const std::string& roff) {
  std::string text;
  for (size_t i = 0; i < roff.size(); ++i) {
    if (roff.compare(i, 2, "\\-") == 0 || roff.compare(i, 2, "\\&") == 0) continue;
    text += roff[i];
  }
  return text;
}

TEST(ManPage, NamesEveryCommandOptionAndExample) {
  const ProgramResult result = run_program("man");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with(".TH WINDTUNNEL 1 ")) << result.out.substr(0, 200);
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS"}) {
    EXPECT_NE(result.out.find(fmt::format("\n.SH {}\n", section)), std::string::npos) << section;
  }
  const std::string page = without_escapes(result.out);
  for (const auto& [path, help] : help_pages()) {
    if (path.empty()) continue;
    std::string title;
    for (const char c : path) {
      if (c != '-') title += c;
    }
    EXPECT_NE(page.find("\n.SS " + title + "\n"), std::string::npos) << path;
    EXPECT_NE(page.find("Example:\n  windtunnel " + title), std::string::npos) << path;
  }
}

TEST(ManPage, GroffReadsItWithoutAWarning) {
  if (std::system("command -v groff >/dev/null") != 0) GTEST_SKIP() << "groff is not installed";
  const std::string folder = scratch_folder("man");
  std::ofstream(folder + "/page.1") << run_program("man").out;
  const std::string command = fmt::format(
      "groff -man -Tutf8 -P-cbou -ww -rLL=80n '{0}/page.1' >'{0}/text' 2>'{0}/warnings'", folder);
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_text(folder + "/warnings"), "");
  const std::string text = read_text(folder + "/text");
  for (const char* words : {"sweep run", "--shard", "windtunnel optimise", "KEY=VALUE"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words;
  }
}

}  // namespace
}  // namespace windtunnel
