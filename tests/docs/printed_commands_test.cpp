#include "tests/docs/printed_commands.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// README and the pages of docs/ that print commands.
std::vector<std::string> pages() {
  const fs::path root = WINDTUNNEL_SOURCE_DIR;
  std::vector<std::string> names = {"README.md"};
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "docs")) {
    if (entry.path().extension() != ".md") continue;
    if (printed_commands(text_of(entry.path())).empty()) continue;
    names.push_back("docs/" + entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

// What a reader has who is in the project's folder with the program in the path; what the commands
// write lands beside.
class Reader {
 public:
  explicit Reader(const std::string& page) {
    std::string name = page;
    std::ranges::replace(name, '/', '-');
    folder_ = fs::path(testing::TempDir()) / ("windtunnel-docs-" + name);
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "bin");
    fs::create_symlink(WINDTUNNEL_PROGRAM, folder_ / "bin" / "windtunnel");
    fs::create_symlink(fs::path(WINDTUNNEL_SOURCE_DIR) / "scenarios", folder_ / "scenarios");
  }
  ~Reader() { fs::remove_all(folder_); }

  // Standard output and errors of the command, and whether it succeeded.
  std::pair<Lines, bool> run(const std::string& command) const {
    const std::string file = folder_ / "output";
    const std::string script = folder_ / "command";
    std::ofstream(script) << "set -o pipefail\ncd '" << folder_.string() << "'\nPATH=\""
                          << folder_.string() << "/bin:$PATH\"\n"
                          << command << "\n";
    const int status =
        std::system(("bash '" + script + "' </dev/null >'" + file + "' 2>&1").c_str());
    Lines lines;
    std::istringstream stream(text_of(file));
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    // A page does not show that an output ends in blank lines.
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    // Of a pipe whose reader (`head`) has seen enough the writer is stopped, or was done already.
    constexpr int kStoppedByPipe = 128 + SIGPIPE;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return {lines, code == 0 || code == kStoppedByPipe};
  }

 private:
  fs::path folder_;
};

class Docs : public testing::TestWithParam<std::string> {};

TEST_P(Docs, CommandsPrintWhatThePageShows) {
  const fs::path path = fs::path(WINDTUNNEL_SOURCE_DIR) / GetParam();
  const std::string page = text_of(path);
  const Reader reader(GetParam());
  const bool update = std::getenv("WINDTUNNEL_UPDATE_GOLDEN") != nullptr;
  std::vector<Lines> outputs;
  for (const PrintedCommand& each : printed_commands(page)) {
    const auto [lines, succeeded] = reader.run(each.command);
    EXPECT_TRUE(succeeded) << GetParam() << ":" << each.line << ": " << each.command;
    outputs.push_back(lines);
    if (update || as_printed(each.printed, lines)) continue;
    std::string now;
    for (const std::string& line : lines) now += line + "\n";
    ADD_FAILURE() << GetParam() << ":" << each.line << ": " << each.command
                  << "\nprints other lines now (WINDTUNNEL_UPDATE_GOLDEN=1 takes them over):\n"
                  << now;
  }
  if (update) std::ofstream(path, std::ios::binary) << with_outputs(page, outputs);
}

INSTANTIATE_TEST_SUITE_P(Pages, Docs, testing::ValuesIn(pages()), [](const auto& page) {
  std::string name = page.param;
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
});

TEST(PrintedCommands, AreThoseOfBlocksWithWhatFollows) {
  const std::string page = "$ not this\n```\n$ a \\\n  b\none\n\n$ c\n...\nlast\n```\n$ nor this\n";
  const std::vector<PrintedCommand> commands = printed_commands(page);
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(commands[0].command, "a   b");
  EXPECT_EQ(commands[0].printed, Lines{"one"});
  EXPECT_EQ(commands[1].line, 7);
  EXPECT_TRUE(as_printed(commands[1].printed, {"x", "y", "last"}));
  EXPECT_TRUE(as_printed(commands[1].printed, {"last"}));
  EXPECT_FALSE(as_printed(commands[1].printed, {"last", "z"}));
  EXPECT_FALSE(as_printed({"one"}, {"one", "two"}));
  EXPECT_EQ(with_outputs(page, {{"two", "three"}, {"x", "end"}}),
            "$ not this\n```\n$ a \\\n  b\ntwo\nthree\n\n$ c\n...\nend\n```\n$ nor this\n");
}

}  // namespace
}  // namespace windtunnel
