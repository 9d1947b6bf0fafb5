// Tests which process ends the others, and which files are left, if several processes measure a
// calibration.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "tests/cli/run_program.hpp"
#include "tests/cli/sweep_kills.hpp"

namespace windtunnel {
namespace {

// Starts the program and its ranks as a terminal does a foreground job: signals reach the whole
// group.
class Job {
 public:
  explicit Job(const std::string& out) : leader_(fork()) {
    if (leader_ != 0) {
      setpgid(leader_, leader_);
      prctl(PR_SET_CHILD_SUBREAPER, 1);  // adopts ranks that outlive the first
      return;
    }
    setpgid(0, 0);
    const int null = open("/dev/null", O_RDWR);
    for (const int stream : {0, 1, 2}) dup2(null, stream);
    execl(WINDTUNNEL_PROGRAM, WINDTUNNEL_PROGRAM, "calibrate", "--backend", "cpu", "--ranks", "2",
          "--budget", "60s", "--out", out.c_str(), nullptr);
    _exit(127);
  }
  void interrupt() const { kill(-leader_, SIGINT); }
  void kill_leader() const { kill(leader_, SIGKILL); }
  int wait() const {
    int status = 0;
    waitpid(leader_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  bool any_left() const {
    while (waitpid(-leader_, nullptr, WNOHANG) > 0) {
    }
    return kill(-leader_, 0) == 0;
  }

 private:
  pid_t leader_;
};

constexpr auto kPause = std::chrono::milliseconds(20);
constexpr int kPauses = 3000;

void wait_for_lines(const std::string& path, size_t lines) {
  for (int i = 0; i < kPauses && lines_of(path) < lines; ++i) std::this_thread::sleep_for(kPause);
  ASSERT_GE(lines_of(path), lines);
}

TEST(CalibrateRanks, AnInterruptionOfAllRanksKeepsWhatIsMeasured) {
  const std::string folder = scratch_folder("ranks");
  const std::string samples = folder + "/mine.samples.csv";
  const Job job(folder + "/mine.yaml");
  wait_for_lines(samples, 4);
  job.interrupt();
  EXPECT_EQ(job.wait(), 3);
  EXPECT_FALSE(job.any_left());
  const std::string kept = read_text(samples);
  EXPECT_TRUE(kept.ends_with("\n"));

  // A run with another number of ranks does not continue the file.
  const ProgramResult other =
      run_program("calibrate --backend cpu --ranks 1 --out " + folder + "/mine.yaml");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("measured with --ranks 2"), std::string::npos) << other.err;
  EXPECT_EQ(read_text(samples), kept);
}

TEST(CalibrateRanks, OthersEndWithTheFirst) {
  const std::string folder = scratch_folder("first");
  const Job job(folder + "/mine.yaml");
  wait_for_lines(folder + "/mine.samples.csv", 2);
  job.kill_leader();
  EXPECT_EQ(job.wait(), -SIGKILL);
  for (int i = 0; i < kPauses && job.any_left(); ++i) std::this_thread::sleep_for(kPause);
  EXPECT_FALSE(job.any_left());
}

// Binds this process and its children to one core until the object is destroyed.
class OnOneCore {
 public:
  OnOneCore() {
    EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    int core = 0;
    while (!CPU_ISSET(core, &before_)) ++core;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  ~OnOneCore() { sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;

 private:
  cpu_set_t before_;
};

// If the file of earlier samples cannot be continued, the command ends before it measures anything.
TEST(CalibrateRanks, ThatShareACoreAreToldSoBeforeTheyStart) {
  const std::string folder = scratch_folder("sharing");
  const std::string samples = folder + "/mine.samples.csv";
  const std::string shares =
      "warning: --ranks 2: the ranks share 1 core, which is good for trying programs but not for "
      "timing, so no calibration is written without --force";
  const OnOneCore core;
  for (const int ranks : {1, 2}) {
    std::ofstream(samples) << "mine\n";
    const ProgramResult result = run_program(
        fmt::format("calibrate --backend cpu --ranks {} --json --out {}/mine.yaml", ranks, folder));
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err.starts_with(shares), ranks == 2) << result.err;
    EXPECT_EQ(result.err.find("share") != std::string::npos, ranks == 2) << result.err;
  }
}

TEST(CalibrateRanks, GoWithABackend) {
  const std::string folder = scratch_folder("backend");
  const ProgramResult result =
      run_program("calibrate --from rows.csv --ranks 2 --out " + folder + "/mine.yaml");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("--ranks and --coordinator need --backend"), std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace windtunnel
