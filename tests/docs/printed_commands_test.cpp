#include "tests/docs/printed_commands.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/answers/answers.hpp"
#include "tests/docs/reader.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

const fs::path kRoot = WINDTUNNEL_SOURCE_DIR;

// Returns README and the pages of docs/ that have such commands.
std::vector<std::string> pages(std::vector<PrintedCommand> (*commands)(const std::string&)) {
  std::vector<std::string> names = pages_of(kRoot);
  std::erase_if(names,
                [&](const std::string& page) { return commands(text_of(kRoot / page)).empty(); });
  return names;
}

// `purpose`, which begins with the page's path, names the reader's folder.
PageReader reader_of(std::string purpose) {
  std::ranges::replace(purpose, '/', '-');
  return PageReader(fs::path(testing::TempDir()) / ("windtunnel-docs-" + purpose),
                    WINDTUNNEL_SOURCE_DIR, WINDTUNNEL_PROGRAM);
}

// Returns how the page's commands answer differently from tests/answers/answers.txt, which has the
// whole output of each command even if the page shows a part of it.
std::vector<std::string> other_answers(const std::string& page, const AnswerLines& now) {
  static const Answers all =
      parse_answers(text_of(kRoot / "tests/answers/answers.txt"), "answers.txt");
  AnswerLines before = all.contains(page) ? all.at(page) : AnswerLines{};
  // ValidationPages compares the page that a command writes.
  std::erase_if(before, [](const auto& line) { return line.first == "page"; });
  return differences({{page, before}}, {{page, now}});
}

class Docs : public testing::TestWithParam<std::string> {};

TEST_P(Docs, CommandsPrintWhatThePageShows) {
  const fs::path path = kRoot / GetParam();
  const std::string page = text_of(path);
  const PageReader reader = reader_of(GetParam());
  const bool update = std::getenv("WINDTUNNEL_UPDATE_GOLDEN") != nullptr;
  std::vector<Lines> outputs;
  AnswerLines answer;
  for (const PrintedCommand& each : printed_commands(page)) {
    const auto [lines, succeeded] = reader.run(each.command);
    EXPECT_TRUE(succeeded) << GetParam() << ":" << each.line << ": " << each.command;
    outputs.push_back(lines);
    answer.emplace_back("$ " + each.command, hash_of_lines(lines));
    if (update || as_printed(each.printed, lines)) continue;
    std::string now;
    for (const std::string& line : lines) now += line + "\n";
    ADD_FAILURE() << GetParam() << ":" << each.line << ": " << each.command
                  << "\nprints other lines now (WINDTUNNEL_UPDATE_GOLDEN=1 takes them over):\n"
                  << now;
  }
  if (update) std::ofstream(path, std::ios::binary) << with_outputs(page, outputs);
  EXPECT_EQ(other_answers(GetParam(), answer), Lines()) << "where it is meant: ./dev answers";
}

std::string test_name(const testing::TestParamInfo<std::string>& page) {
  std::string name = page.param;
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
}

INSTANTIATE_TEST_SUITE_P(Pages, Docs, testing::ValuesIn(pages(printed_commands)), test_name);

// Pages name these commands, but the test does not run them: `words` identify a command, `why`
// gives the reason. Commands of other programs (./dev, cmake, launchers, windtunnel-harness) are
// never run, because they build windtunnel or need other machines.
struct NotRun {
  std::string_view page, words, why;
};
constexpr NotRun kNotRun[] = {
    {"docs/results/accuracy.md", "runs.csv", "the reader's rows"},
    {"docs/results/accuracy.md", "sweep.csv", "the reader's rows"},
    {"docs/results/accuracy.md", "validate collectives rows.csv", "the reader's rows"},
    {"docs/results/accuracy.md", "all_reduce.log", "the reader's log"},
    {"docs/results/accuracy.md", "run scenario.yaml", "the reader's scenario"},
    {"docs/results/accuracy.md", "--backend cpu", "measures this machine for minutes"},
    {"docs/results/accuracy.md", "validate execution", "measures this machine"},
    {"docs/guide/clusters.md", "submit out/cluster --slurm", "asks a Slurm"},
    {"docs/guide/clusters.md", "status out/cluster",
     "says by its exit code that points are missing"},
    {"docs/reference/command-line.md", "completion", "writes into the reader's home"},
    {"docs/reference/command-line.md", "man ./windtunnel.1", "opens a pager"},
    {"docs/reference/execute.md", "validate execution", "executes for minutes"},
    {"docs/reference/harness.md", "--backend cpu", "measures this machine for minutes"},
    {"docs/reference/harness.md", "validate execution", "measures this machine"},
    {"docs/physics/network.md", "rows.csv", "the reader's rows"},
    {"docs/physics/network.md", "pairs.csv", "the reader's rows"},
    {"docs/physics/network.md", "all_reduce.log", "the reader's log"},
    {"docs/guide/serve.md", "windtunnel serve", "serves until it is ended"},
    {"docs/physics/volunteers.md", "scenarios/volunteers/swarm.yaml", "half a minute"}};

bool is_not_run(const NotRun& each, const std::string& page, const std::string& command) {
  return each.page == page && command.find(each.words) != std::string::npos;
}

class NamedCommands : public testing::TestWithParam<std::string> {};

// Commands of a page run one after the other, because one may read what another has written.
TEST_P(NamedCommands, Succeed) {
  const PageReader reader = reader_of(GetParam() + "-named");
  const std::string page = text_of(kRoot / GetParam());
  for (const PrintedCommand& each : named_commands(page)) {
    const auto listed = [&](const NotRun& not_run) {
      return is_not_run(not_run, GetParam(), each.command);
    };
    if (std::ranges::any_of(kNotRun, listed)) continue;
    const auto [lines, succeeded] = reader.run(each.command);
    EXPECT_TRUE(succeeded) << GetParam() << ":" << each.line << ": " << each.command << "\n"
                           << (lines.empty() ? "" : lines.back());
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, NamedCommands, testing::ValuesIn(pages(named_commands)), test_name);

// `./dev validation` writes these pages again.
TEST(ValidationPages, AreWhatTheirCommandsWrite) {
  const PageReader reader = reader_of("validation-pages");
  const bool update = std::getenv("WINDTUNNEL_UPDATE_GOLDEN") != nullptr;
  int made = 0;
  for (const std::string& name : pages_of(kRoot)) {
    const std::string page = text_of(kRoot / name);
    const std::string command = made_by(page);
    if (command.empty()) continue;
    ++made;
    const auto [lines, succeeded] = reader.run(command + " --quiet");
    EXPECT_TRUE(succeeded) << command << "\n" << (lines.empty() ? "" : lines.back());
    const std::string now = reader.written(name);
    EXPECT_TRUE(update || now == page)
        << name << " is not what its rows give now: ./dev validation";
    if (update) std::ofstream(kRoot / name, std::ios::binary) << now;
  }
  EXPECT_GE(made, 3);
}

// The rows of prediction errors in README are copied from the page of the validation.
TEST(Readme, ItsRowsOfErrorsAreThoseOfTheValidation) {
  const std::string page = text_of(kRoot / "docs/results/validation.md");
  std::istringstream readme(text_of(kRoot / "README.md"));
  int rows = 0;
  for (std::string line; std::getline(readme, line);) {
    if (!line.starts_with("| ") || line.find('%') == std::string::npos) continue;
    EXPECT_NE(page.find("\n" + line + "\n"), std::string::npos)
        << line << "\nis no row of docs/results/validation.md";
    ++rows;
  }
  EXPECT_GE(rows, 6);  // including the table's head
}

// `./dev pictures` makes these pictures again.
TEST(Pictures, AreThereSmallAndShown) {
  std::string pages;
  for (const std::string& page : pages_of(kRoot)) pages += text_of(kRoot / page);
  const std::string dev = text_of(kRoot / "dev");
  int pictures = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "docs/pictures")) {
    constexpr std::uintmax_t kMostBytes = 120'000;
    const std::string name = entry.path().stem().string();
    EXPECT_LE(entry.file_size(), kMostBytes) << name;
    EXPECT_NE(pages.find(fmt::format("pictures/{}.png)", name)), std::string::npos) << name;
    EXPECT_NE(dev.find(fmt::format("picture {} ", name)), std::string::npos) << name;
    ++pictures;
  }
  EXPECT_GE(pictures, 4);
}

TEST(NotRunCommands, AreThereYet) {
  for (const NotRun& not_run : kNotRun) {
    const std::string page(not_run.page);
    const auto commands = named_commands(text_of(kRoot / page));
    EXPECT_TRUE(std::ranges::any_of(
        commands,
        [&](const PrintedCommand& each) { return is_not_run(not_run, page, each.command); }))
        << page << ": " << not_run.words;
  }
}

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

TEST(PrintedCommands, NamedOnesStandInBlocksWithoutAPrompt) {
  const std::string page =
      "windtunnel not this\n    windtunnel a \\\n      b\n```\nwindtunnel c  # why\n$ windtunnel "
      "d\n"
      "./dev e\n```\n    other f\n";
  const std::vector<PrintedCommand> commands = named_commands(page);
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(commands[0].command, "windtunnel a       b");
  EXPECT_EQ(commands[0].line, 2);
  EXPECT_EQ(commands[1].command, "windtunnel c  # why");
}

}  // namespace
}  // namespace windtunnel
