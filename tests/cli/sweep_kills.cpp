#include "tests/cli/sweep_kills.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "models/base/random.hpp"
#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kMerged = {"results.jsonl", "results.sqlite", "sweep.json",
                                          "report.html"};

}  // namespace

Running::Running(const std::vector<std::string>& arguments) : child_(fork()) {
  if (child_ != 0) return;
  const int null = open("/dev/null", O_RDWR);
  for (const int stream : {0, 1, 2}) dup2(null, stream);
  if (chdir(WINDTUNNEL_SOURCE_DIR) != 0) _exit(127);
  std::vector<char*> words = {const_cast<char*>(WINDTUNNEL_PROGRAM)};
  for (const std::string& each : arguments) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  execv(WINDTUNNEL_PROGRAM, words.data());
  _exit(127);
}

void Running::send(int signal) const {
  kill(child_, signal);
}

int Running::wait() const {
  int status = 0;
  waitpid(child_, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

size_t lines_of(const std::string& path) {
  const std::string text = read_text(path);
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

std::vector<std::string> merged_bytes(const std::string& folder) {
  std::vector<std::string> bytes;
  for (const std::string& name : kMerged) bytes.push_back(read_text(folder + "/" + name));
  return bytes;
}

std::string whole_sweep(const std::string& grid, const std::string& name) {
  const std::string folder = scratch_folder(name);
  const ProgramResult result = run_program("sweep " + grid + " --out " + folder);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const std::string& bytes : merged_bytes(folder)) EXPECT_FALSE(bytes.empty());
  return folder;
}

void expect_sweep_survives_kills(const std::string& grid, size_t points, int kills) {
  const std::string whole = whole_sweep(grid, "kill-whole");
  const std::string folder = scratch_folder("kill");
  ASSERT_EQ(run_program("sweep expand " + grid + "--out " + folder).exit_code, 0);
  RandomStream random(20261121, RandomPurpose::test, 0);
  int killed = 0;
  for (int i = 0; i < kills; ++i) {
    const size_t before = lines_of(folder + "/part-0.jsonl");
    const size_t after = before + random.below(2 * points / kills + 1);
    const double wait_s = random.uniform() * 0.005;
    const Running running({"sweep", "resume", folder, "-j", "2"});
    for (int turn = 0; turn < 20000 && lines_of(folder + "/part-0.jsonl") < after; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (after >= points && fs::exists(folder + "/results.jsonl")) break;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
    running.send(SIGKILL);
    killed += running.wait() == -SIGKILL ? 1 : 0;
  }
  EXPECT_GT(killed, kills / 2);
  const ProgramResult last = run_program("sweep resume " + folder);
  EXPECT_EQ(last.exit_code, 0) << last.err;
  EXPECT_EQ(merged_bytes(whole), merged_bytes(folder));
  // Only points that a kill cut off ran twice.
  EXPECT_LE(lines_of(folder + "/part-0.jsonl"), points);
  fs::remove_all(whole);
  fs::remove_all(folder);
}

}  // namespace windtunnel
