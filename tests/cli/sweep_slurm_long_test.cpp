// Runs a sweep of 2,000 cases on a real Slurm of one node that enforces accounts. Some shards are
// cancelled and some killed, the rest is merged, the missing points are submitted again, and the
// bytes must equal those of the same sweep without Slurm. The test is skipped if Slurm is not
// installed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/cli/run_program.hpp"
#include "tests/cli/sweep_kills.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCases =
    "scenarios/small.yaml --replicas 20 "
    "--vary 'failures.*.rate=2 per 1000 node-days:40 per 1000 node-days:40log' "
    "--vary 'snapshots.0.every=2 min:4 h:50log' ";

std::string said_by(const std::string& command) {
  const std::string path = scratch_folder("slurm-said") + "/out";
  if (std::system(fmt::format("{} > {} 2>&1", command, path).c_str()) != 0) return "";
  return read_text(path);
}

class SlurmCluster {
 public:
  SlurmCluster() : folder_(scratch_folder("slurm-cluster")) {
    const std::string start =
        fmt::format("sh {} start {} > {}/start.out 2>&1", kScript, folder_, folder_);
    up_ = std::system(start.c_str()) == 0;
    setenv("SLURM_CONF", (folder_ + "/slurm.conf").c_str(), 1);
  }
  ~SlurmCluster() {
    static_cast<void>(std::system(fmt::format("sh {} stop {}", kScript, folder_).c_str()));
    unsetenv("SLURM_CONF");
    fs::remove_all(folder_);
  }
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;
  bool up() const { return up_; }
  std::string start_text() const { return read_text(folder_ + "/start.out"); }

 private:
  static constexpr const char* kScript = WINDTUNNEL_SOURCE_DIR "/tests/cli/sweep/slurm_cluster.sh";
  const std::string folder_;
  bool up_ = false;
};

bool has_slurm() {
  return std::system(
             "command -v sbatch slurmctld slurmd slurmdbd munged mariadbd mariadb-install-db "
             ">/dev/null 2>&1") == 0;
}

size_t finished_in(const std::string& folder) {
  size_t lines = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("part-")) lines += lines_of(entry.path());
  }
  return lines;
}

void wait_until_idle() {
  for (int turn = 0; turn < 1200 && !said_by("squeue -h").empty(); ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  EXPECT_EQ(said_by("squeue -h"), "");
}

// Sends SIGKILL to a process that runs a shard of the folder; returns whether there was one.
bool kill_a_shard(const std::string& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline");
    const std::string words((std::istreambuf_iterator<char>(file)), {});
    if (words.find(folder) == std::string::npos) continue;
    if (words.find(std::string("run\0", 4)) == std::string::npos) continue;
    return kill(std::stoi(pid), SIGKILL) == 0;
  }
  return false;
}

TEST(SweepOnSlurm, TwoThousandCasesWithKillsGiveTheBytesOfTheLocalRun) {
  if (!has_slurm()) {
    GTEST_SKIP() << "no Slurm here: apt-get install slurm-wlm slurmdbd munge mariadb-server";
  }
  const SlurmCluster cluster;
  ASSERT_TRUE(cluster.up()) << cluster.start_text();
  const std::string whole = whole_sweep(kCases, "slurm-whole");
  const std::string folder = scratch_folder("slurm-sweep");
  ASSERT_EQ(run_program(fmt::format("sweep expand {}--out {}", kCases, folder)).exit_code, 0);
  const std::string submit = "sweep submit " + folder + " --slurm --shards 40 --time '10 min' ";

  const ProgramResult near = run_program(submit + "--partition shrt --account windtunnel");
  EXPECT_EQ(near.exit_code, 2);
  EXPECT_NE(near.err.find("did you mean 'short'?"), std::string::npos) << near.err;
  const ProgramResult stranger = run_program(submit + "--partition short --account another");
  EXPECT_EQ(stranger.exit_code, 1);
  EXPECT_NE(stranger.err.find("Invalid account"), std::string::npos) << stranger.err;

  const std::string ours = submit + "--partition short --account windtunnel";
  const ProgramResult submitted = run_program(ours);
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  ASSERT_NE(submitted.out.find("submitted 40 shards as job "), std::string::npos) << submitted.out;
  const std::string id = submitted.out.substr(submitted.out.find(" as job ") + 8);
  const int job = std::stoi(id);
  const std::string shown = said_by("scontrol show job " + std::to_string(job));
  EXPECT_NE(shown.find("Partition=short"), std::string::npos) << shown;
  EXPECT_NE(shown.find("Account=windtunnel"), std::string::npos) << shown;
  EXPECT_NE(shown.find("TimeLimit=00:10:00"), std::string::npos) << shown;

  int killed = 0;
  for (size_t after = 120; after <= 900; after += 130) {
    for (int turn = 0; turn < 6000 && finished_in(folder) < after; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    killed += kill_a_shard(folder) ? 1 : 0;
  }
  EXPECT_GE(killed, 3);
  EXPECT_EQ(std::system(fmt::format("scancel {0}_30 {0}_31 {0}_39", job).c_str()), 0);
  wait_until_idle();
  const std::string early = read_text(folder + "/merge.log");
  EXPECT_NE(early.find("of 2000 points are missing"), std::string::npos) << early;
  EXPECT_NE(merged_bytes(whole), merged_bytes(folder));
  const size_t before = finished_in(folder);
  EXPECT_LT(before, 2000U - 3 * 50);  // killed shards lost points too

  ASSERT_EQ(run_program(ours).exit_code, 0);
  wait_until_idle();
  EXPECT_EQ(merged_bytes(whole), merged_bytes(folder));
  EXPECT_EQ(finished_in(folder), 2000U);  // nothing ran twice
  const ProgramResult status = run_program("sweep status " + folder + " --logs");
  EXPECT_EQ(status.exit_code, 0);
  EXPECT_NE(status.out.find("shard-39.log: "), std::string::npos) << status.out;
  EXPECT_NE(status.out.find("[50/50] after "), std::string::npos) << status.out;
  std::printf("%d shards killed, 3 cancelled, %zu of 2000 cases before the second submission\n",
              killed, before);
  fs::remove_all(whole);
  fs::remove_all(folder);
}

// The bucket is mounted as a folder in which files can neither be appended to nor written out of
// order.
TEST(SweepOnObjectStorage, FilesThatAreWrittenOnceGiveTheBytesOfTheLocalRun) {
  const std::string mount = scratch_folder("bucket");
  const std::string mounting = fmt::format(
      "command -v rclone fusermount3 >/dev/null 2>&1 && test -e /dev/fuse && "
      "rclone mount :memory: {} --vfs-cache-mode off --daemon >/dev/null 2>&1",
      mount);
  if (std::system(mounting.c_str()) != 0) {
    GTEST_SKIP() << "no mounted bucket here: apt-get install rclone fuse3, and a /dev/fuse";
  }
  const std::string grid =
      "scenarios/small.yaml --replicas 4 --vary 'snapshots.0.every=2 min:4 h:60log' ";
  const std::string whole = whole_sweep(grid, "bucket-whole");
  const std::string folder = mount + "/bucket/out";
  EXPECT_EQ(run_program("sweep expand " + grid + "--out " + folder).exit_code, 0);
  const std::string shard = "sweep run " + folder + " --shard ";
  EXPECT_EQ(run_program(shard + "0/2 --write-once 1").exit_code, 0);
  // Without --write-once a part may be begun but not continued.
  run_program(shard + "1/2");
  const ProgramResult again = run_program(shard + "1/2");
  if (finished_in(folder) < 60) {
    EXPECT_EQ(again.exit_code, 1);
    EXPECT_NE(again.err.find("--write-once"), std::string::npos) << again.err;
  }
  EXPECT_EQ(run_program(shard + "1/2 --write-once 1").exit_code, 0);
  EXPECT_EQ(run_program("sweep merge " + folder).exit_code, 0);
  EXPECT_EQ(merged_bytes(whole), merged_bytes(folder));
  EXPECT_EQ(run_program("sweep merge " + folder).exit_code, 0);
  EXPECT_EQ(merged_bytes(whole), merged_bytes(folder));
  fs::remove_all(whole);
  EXPECT_EQ(std::system(fmt::format("fusermount3 -u {}", mount).c_str()), 0);
}

}  // namespace
}  // namespace windtunnel
