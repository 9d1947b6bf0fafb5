// The tests run completions as the shells do.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/cli/help_pages.hpp"
#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

std::string completion_file(const std::string& shell) {
  const std::string path = scratch_folder("completion-" + shell) + "/windtunnel." + shell;
  const ProgramResult result = run_program("completion " + shell);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::ofstream(path) << result.out;
  return path;
}

// Runs the script in the project's folder, with `windtunnel` on the path, and returns its output
// lines.
std::vector<std::string> lines_of(const std::string& shell, const std::string& script) {
  const std::string folder = scratch_folder("driven-" + shell);
  std::ofstream(folder + "/script") << script;
  const std::string command =
      fmt::format("cd '{}' && PATH=\"$(dirname '{}'):$PATH\" {} '{}/script' >'{}/out' 2>&1",
                  WINDTUNNEL_SOURCE_DIR, WINDTUNNEL_PROGRAM, shell, folder, folder);
  EXPECT_EQ(std::system(command.c_str()), 0) << script << read_text(folder + "/out");
  std::vector<std::string> lines;
  std::istringstream text(read_text(folder + "/out"));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// Returns what bash offers for the last of these words. Bash splits "key=value" into three words.
std::vector<std::string> bash_offers(const std::vector<std::string>& words) {
  static const std::string file = completion_file("bash");
  std::string quoted;
  for (const std::string& word : words) quoted += fmt::format(" \"{}\"", word);
  return lines_of("bash --norc --noprofile",
                  fmt::format("source '{}'\n"
                              "COMP_WORDS=(windtunnel{})\n"
                              "COMP_CWORD={}\n"
                              "_windtunnel\n"
                              "for word in \"${{COMPREPLY[@]}}\"; do echo \"$word\"; done\n",
                              file, quoted, words.size()));
}

TEST(BashCompletion, KnowsEveryCommandAndOptionOfTheHelp) {
  for (const auto& [path, help] : help_pages()) {
    std::vector<std::string> words;
    std::istringstream parts(path);
    for (std::string part; parts >> part;) words.push_back(part);
    words.emplace_back("--");
    std::set<std::string> named;
    for (const std::string& names : first_words(help, "Options:")) {
      std::istringstream list(names);
      for (std::string name; std::getline(list, name, ',');) {
        if (name.starts_with("--")) named.insert(name);
      }
    }
    EXPECT_THAT(bash_offers(words), ::testing::UnorderedElementsAreArray(named)) << path;
  }
  EXPECT_THAT(bash_offers({""}), IsSupersetOf({"run", "sweep", "optimise", "optimize", "man"}));
  EXPECT_THAT(bash_offers({"sweep", "res"}), ElementsAre("resume"));
  EXPECT_THAT(bash_offers({"tra"}), ElementsAre("trace"));
  EXPECT_THAT(bash_offers({"optimize", "--ov"}), ElementsAre("--over"));
}

TEST(BashCompletion, KnowsWhatAnOptionTakes) {
  EXPECT_THAT(bash_offers({"optimise", "a.yaml", "--for", "g"}), ElementsAre("goodput"));
  EXPECT_THAT(bash_offers({"optimise", "--for", "=", "g"}), ElementsAre("goodput"));
  EXPECT_THAT(bash_offers({"list", "g"}), ElementsAre("gpus"));
  EXPECT_THAT(bash_offers({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(bash_offers({"run", "x.yaml", "-j", ""}), IsEmpty());
  EXPECT_THAT(bash_offers({"run", "scenarios/sm"}), ElementsAre("scenarios/small.yaml"));
  EXPECT_THAT(bash_offers({"run", "CMake"}), Not(Contains("CMakeLists.txt")));
  EXPECT_THAT(bash_offers({"schedule", "import", "CMakeL"}), ElementsAre("CMakeLists.txt"));
  if (is_built("validate")) {
    EXPECT_THAT(bash_offers({"validate", "runs", "CMakeL"}), ElementsAre("CMakeLists.txt"));
  }
  EXPECT_THAT(bash_offers({"sweep", "status", "scena"}), ElementsAre("scenarios"));
  // The value of an option is no command.
  EXPECT_THAT(bash_offers({"sweep", "--out", "run", "--sh"}), IsEmpty());
}

TEST(BashCompletion, KnowsKeysOfScenariosAndTheirWords) {
  EXPECT_THAT(bash_offers({"run", "a.yaml", "--set", "layout.v"}), ElementsAre("layout.vpp="));
  EXPECT_THAT(bash_offers({"sweep", "a.yaml", "--vary", "batch.mic"}), ElementsAre("batch.micro="));
  EXPECT_THAT(bash_offers({"run", "a.yaml", "--set", "failures.2.ra"}),
              ElementsAre("failures.2.rate="));
  EXPECT_THAT(bash_offers({"run", "a.yaml", "--set", "failures."}), Contains("failures.0.rate="));
  EXPECT_THAT(bash_offers({"run", "a.yaml", "--set", "schedule", "=", "zb-h"}),
              ElementsAre("zb-h1", "zb-h2"));
  EXPECT_THAT(bash_offers({"compare", "a.yaml", "--vary", "schedule", "=", "1f1b,zb-h"}),
              ElementsAre("1f1b,zb-h1", "1f1b,zb-h2"));
  EXPECT_THAT(bash_offers({"run", "--set", "model", "=", "llama3-4"}), ElementsAre("llama3-405b"));
  EXPECT_THAT(bash_offers({"run", "--set", "batch.global", "=", ""}), IsEmpty());
}

TEST(BashCompletion, KnowsNamesOfTheLibrary) {
  EXPECT_THAT(bash_offers({"plan", "--model", "llama3-4"}), ElementsAre("llama3-405b"));
  EXPECT_THAT(bash_offers({"plan", "--model", "CMakeL"}), ElementsAre("CMakeLists.txt"));
  EXPECT_THAT(bash_offers({"plan", "--cluster", "'64 x dgx-h1"}), ElementsAre("64 x dgx-h100"));
  EXPECT_THAT(bash_offers({"plan", "--cluster", "=", "'512 h20"}), Contains("512 h200"));
  EXPECT_THAT(bash_offers({"plan", "--cluster", "dgx-h1"}), IsEmpty());  // no number of nodes
  if (is_built("calibrate")) {
    EXPECT_THAT(bash_offers({"calibrate", "--base", "h100-500"}), ElementsAre("h100-500w-spec"));
  }
  EXPECT_THAT(bash_offers({"run", "--set", "model", "=", "CMakeL"}), ElementsAre("CMakeLists.txt"));
}

TEST(Completion, IsReadByItsShell) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string file = completion_file(shell);
    if (!has_program(shell)) continue;
    EXPECT_EQ(std::system((shell + " -n '" + file + "'").c_str()), 0) << shell;
  }
}

// The first line gives the kind of files and the prefix; then each word has a line with its help.
TEST(Completion, AnswerOfTheProgramHasALineForEachWord) {
  const std::string keys = run_program("__complete run --set batch.mi").out;
  EXPECT_TRUE(keys.starts_with("none\t\n")) << keys.substr(0, 40);
  EXPECT_NE(keys.find("\nbatch.micro=\t"), std::string::npos);
  EXPECT_EQ(run_program("__complete completion ''").out, "none\t\nbash\t\nzsh\t\nfish\t\n");
  EXPECT_TRUE(run_program("__complete run --set=schedule=1f1b,")
                  .out.starts_with("none\t--set=schedule=1f1b,\ngpipe\t\n"));
  EXPECT_EQ(run_program("__complete run --no-such=").out, "none\t--no-such=\n");
  EXPECT_EQ(run_program("__complete").exit_code, 0);
  EXPECT_EQ(run_program("--help").out.find("__complete"), std::string::npos);
}

TEST(Completion, OfFishOffersTheSame) {
  if (!has_program("fish")) GTEST_SKIP() << "fish is not installed";
  const std::string file = completion_file("fish");
  const auto offers = [&](const std::string& typed) {
    std::vector<std::string> words;
    for (const std::string& line :
         lines_of("fish --no-config",
                  fmt::format("source '{}'\ncomplete -C 'windtunnel {}'\n", file, typed))) {
      words.push_back(line.substr(0, line.find('\t')));
    }
    return words;
  };
  EXPECT_THAT(offers("optimi"), ::testing::UnorderedElementsAre("optimise", "optimize"));
  EXPECT_THAT(offers("sweep run --sh"), Contains("--shard"));
  EXPECT_THAT(offers("list gp"), ElementsAre("gpus"));
  EXPECT_THAT(offers("run a.yaml --set layout.vp"), ElementsAre("layout.vpp="));
  EXPECT_THAT(offers("run a.yaml --set failures.2.ra"), ElementsAre("failures.2.rate="));
  EXPECT_THAT(offers("run a.yaml --set schedule=zb-h1"), ElementsAre("schedule=zb-h1"));
  EXPECT_THAT(offers("run scenarios/small"), ElementsAre("scenarios/small.yaml"));
  EXPECT_THAT(offers("sweep status scena"), ElementsAre("scenarios/"));
  EXPECT_THAT(offers("plan --model llama3-4"), Contains("llama3-405b"));
}

// Types on a separate terminal, as a user does; if an output does not come, the timeout ends the
// test.
TEST(Completion, OfZshCompletesWhatIsTyped) {
  if (!has_program("zsh")) GTEST_SKIP() << "zsh is not installed";
  const std::string script = fmt::format(
      "zmodload zsh/zpty\nzpty z zsh -f -i\n"
      "zpty -w z \"autoload -Uz compinit && compinit -u -D; source '{}'; print RE''ADY\"\n"
      "zpty -r z out '*READY*'\n"
      "try() {{ zpty -w -n z $1$'\\t'; zpty -r z out \"*$2*\" && print -- $2\n"
      "         zpty -w -n z $'\\x15' }}\n"
      "try 'windtunnel list gp' gpus\n"
      "try 'windtunnel sweep run --sh' --shard\n"
      "try 'windtunnel optimize a --for good' goodput\n"
      "try 'windtunnel run a --set layout.vp' layout.vpp=\n"
      "try 'windtunnel sweep a --vary failures.3.ra' failures.3.rate=\n"
      "try 'windtunnel run scenarios/sm' scenarios/small.yaml\n"
      "try 'windtunnel compare a --vary schedule=1f1b,zb-h1' schedule=1f1b,zb-h1\n"
      "try 'windtunnel plan --model llama3-4' llama3-405b\n"
      "zpty -d z\n",
      completion_file("zsh"));
  EXPECT_THAT(lines_of("timeout 60 zsh -f", script),
              ElementsAre("gpus", "--shard", "goodput", "layout.vpp=", "failures.3.rate=",
                          "scenarios/small.yaml", "schedule=1f1b,zb-h1", "llama3-405b"));
}

}  // namespace
}  // namespace windtunnel
