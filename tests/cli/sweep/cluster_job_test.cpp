// Tests `windtunnel sweep submit`: its calls of Slurm, Kubernetes, HyperQueue and ssh, the values
// that it refuses, and that the started shards give the sweep. sweep_slurm_long_test runs a real
// Slurm.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/cli/run_program.hpp"
#include "tests/cli/sweep_kills.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

const std::string kTwelve =
    "scenarios/small.yaml --replicas 4 "
    "--vary 'failures.*.rate=2 per 1000 node-days:20 per 1000 node-days:3log' "
    "--vary 'snapshots.0.every=10 min:4 h:4log' ";

// Puts fake programs before the real ones on the PATH.
class FakeTools {
 public:
  explicit FakeTools(const std::string& folder) : folder_(folder), path_(std::getenv("PATH")) {
    fs::create_directories(folder_);
    setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
  }
  ~FakeTools() { setenv("PATH", path_.c_str(), 1); }
  FakeTools(const FakeTools&) = delete;
  FakeTools& operator=(const FakeTools&) = delete;
  void add(const std::string& name, const std::string& body) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << body;
    fs::permissions(path, fs::perms::owner_all);
  }

 private:
  const std::string folder_, path_;
};

std::string expanded_sweep(const std::string& name) {
  std::string folder = scratch_folder(name);
  EXPECT_EQ(run_program("sweep expand " + kTwelve + "--out '" + folder + "'").exit_code, 0);
  return folder;
}

TEST(SubmitSweep, SlurmIsToldAllOfIt) {
  const std::string folder = expanded_sweep("submit-slurm");
  const ProgramResult printed = run_program(
      "sweep submit " + folder +
      " --slurm --print --shards 4 --partition gpu,cpu --account p1 --qos high --time '90 min' "
      "--memory 2G --cpus 8 --container reg#wt:1 --option=--constraint=h100 --option '--mail-type "
      "END'");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  for (const char* line :
       {"#SBATCH --partition=gpu,cpu\n", "#SBATCH --account=p1\n", "#SBATCH --qos=high\n",
        "#SBATCH --time=0-01:30:00\n", "#SBATCH --mem=2G\n", "#SBATCH --constraint=h100\n",
        "#SBATCH --mail-type END\n", "#SBATCH --array=0-3\n", "#SBATCH --open-mode=append\n"}) {
    EXPECT_NE(printed.out.find(line), std::string::npos) << line << printed.out;
  }
  // srun does not inherit the number of cores from sbatch's options.
  const std::string inside = fmt::format(
      " --container-image='reg#wt:1' --container-mounts={0}:{0} windtunnel sweep ", folder);
  for (const std::string& words : {"8" + inside + "run", "1" + inside + "merge"}) {
    EXPECT_NE(printed.out.find("exec srun --cpus-per-task=" + words), std::string::npos)
        << words << printed.out;
  }
  const ProgramResult wrapped =
      run_program("sweep submit " + folder + " --slurm --print --wrapper 'apptainer exec wt.sif'");
  EXPECT_NE(wrapped.out.find("exec apptainer exec wt.sif windtunnel sweep run "), std::string::npos)
      << wrapped.out;
  fs::remove_all(folder);
}

TEST(SubmitSweep, TimesAsPeopleAndSlurmWriteThem) {
  const std::string folder = expanded_sweep("submit-times");
  const auto expect_time = [&](const std::string& time, const std::string& line) {
    const ProgramResult printed =
        run_program("sweep submit " + folder + " --slurm --print --time '" + time + "'");
    EXPECT_NE(printed.out.find("#SBATCH --time=" + line + "\n"), std::string::npos)
        << time << printed.err << printed.out;
  };
  expect_time("30", "0-00:30:00");
  expect_time("30:10", "0-00:31:00");  // rounded up to whole minutes
  expect_time("2:00:00", "0-02:00:00");
  expect_time("1-12", "1-12:00:00");
  expect_time("1-12:30", "1-12:30:00");
  expect_time("1-00:00:01", "1-00:01:00");
  expect_time("2 h", "0-02:00:00");
  expect_time("1.5 d", "1-12:00:00");
  fs::remove_all(folder);
}

TEST(SubmitSweep, KubernetesReadsTheManifests) {
  const std::string folder = expanded_sweep("submit-kubernetes");
  const ProgramResult printed = run_program(
      "sweep submit " + folder +
      " --kubernetes --print --shards 5 --cpus 2 --memory 4G --time 2h --container 'reg/wt:1' "
      "--claim sweeps:/sweeps --folder '/sweeps/a: \"b\"/' --namespace team --write-once 60");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const std::vector<YAML::Node> jobs = YAML::LoadAll(printed.out);
  ASSERT_EQ(jobs.size(), 2U);
  const YAML::Node& run = jobs[0];
  EXPECT_EQ(run["apiVersion"].as<std::string>(), "batch/v1");
  EXPECT_EQ(run["kind"].as<std::string>(), "Job");
  EXPECT_EQ(run["metadata"]["namespace"].as<std::string>(), "team");
  const auto name = run["metadata"]["name"].as<std::string>();
  EXPECT_TRUE(name.starts_with("windtunnel-a---b-")) << name;
  EXPECT_EQ(jobs[1]["metadata"]["name"].as<std::string>(), name + "-merge");
  EXPECT_EQ(run["spec"]["completionMode"].as<std::string>(), "Indexed");
  EXPECT_EQ(run["spec"]["completions"].as<int>(), 5);
  EXPECT_EQ(run["spec"]["parallelism"].as<int>(), 5);
  EXPECT_FALSE(run["spec"]["activeDeadlineSeconds"].IsDefined());  // would cover the whole job
  const YAML::Node pod = run["spec"]["template"]["spec"];
  EXPECT_EQ(pod["activeDeadlineSeconds"].as<int>(), 7200);
  EXPECT_EQ(pod["restartPolicy"].as<std::string>(), "Never");
  const YAML::Node container = pod["containers"][0];
  EXPECT_EQ(container["image"].as<std::string>(), "reg/wt:1");
  EXPECT_EQ(container["command"].as<std::vector<std::string>>(),
            (std::vector<std::string>{"windtunnel", "sweep", "run", "/sweeps/a: \"b\"", "--shard",
                                      "auto/5", "-j", "2", "--write-once", "60"}));
  EXPECT_EQ(container["resources"]["requests"]["cpu"].as<int>(), 2);
  EXPECT_EQ(container["resources"]["limits"]["memory"].as<std::string>(), "4Gi");
  EXPECT_EQ(container["volumeMounts"][0]["mountPath"].as<std::string>(), "/sweeps");
  EXPECT_EQ(container["volumeMounts"][0]["name"].as<std::string>(),
            pod["volumes"][0]["name"].as<std::string>());
  EXPECT_EQ(pod["volumes"][0]["persistentVolumeClaim"]["claimName"].as<std::string>(), "sweeps");
  const YAML::Node merge = jobs[1]["spec"]["template"]["spec"]["containers"][0];
  EXPECT_FALSE(jobs[1]["spec"]["completionMode"].IsDefined());
  EXPECT_EQ(merge["command"][2].as<std::string>(), "merge");
  fs::remove_all(folder);
}

TEST(SubmitSweep, JobsOfFoldersWithTheSameNameDiffer) {
  const std::string folder = expanded_sweep("submit-names");
  const auto job_name = [&](const std::string& claim, const std::string& seen) {
    const ProgramResult printed =
        run_program(fmt::format("sweep submit {} --kubernetes --print --container wt --claim {}:/x "
                                "--folder {}",
                                folder, claim, seen));
    return YAML::LoadAll(printed.out).at(0)["metadata"]["name"].as<std::string>();
  };
  const std::string name = job_name("a", "/x/out");
  EXPECT_EQ(name.size(), std::string("windtunnel-out-123456").size()) << name;
  EXPECT_EQ(name, job_name("a", "/x/out/"));
  EXPECT_NE(name, job_name("a", "/x/y/out"));
  EXPECT_NE(name, job_name("b", "/x/out"));
  const std::string longest = job_name("a", "/x/" + std::string(100, 'a')) + "-merge-999999";
  EXPECT_LE(longest.size(), 63U) << longest;
  fs::remove_all(folder);
}

// Runs the manifest that kubectl gets, index by index, with the environment variable that pods
// have.
TEST(SubmitSweep, PodsOfAnIndexedJobGiveTheSweep) {
  const std::string whole = whole_sweep(kTwelve, "submit-pods-whole");
  const std::string folder = expanded_sweep("submit-pods");
  const FakeTools tools(folder + "-tools");
  tools.add("kubectl", fmt::format("echo \"$@\" >> {}-tools/calls; echo created\n", folder));
  const ProgramResult result =
      run_program("sweep submit " + folder + " --kubernetes --shards 3 --container wt --claim c:" +
                  fs::path(folder).parent_path().string() + " --program " WINDTUNNEL_PROGRAM);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("grep -qwE 'Complete|Failed'"), std::string::npos) << result.out;
  const YAML::Node shards = YAML::LoadFile(folder + "/shards.yaml");
  EXPECT_EQ(read_text(folder + "-tools/calls"),
            fmt::format("delete job {0} {0}-merge --ignore-not-found --cascade=foreground\n"
                        "apply -f {1}/shards.yaml\n",
                        shards["metadata"]["name"].as<std::string>(), folder));
  const auto run_words = [](const YAML::Node& job) {
    std::string line;
    for (const YAML::Node& word : job["spec"]["template"]["spec"]["containers"][0]["command"]) {
      line += "'" + word.as<std::string>() + "' ";
    }
    return std::system((line + "> /dev/null 2>&1").c_str());
  };
  for (int index = 0; index < 3; ++index) {
    setenv("JOB_COMPLETION_INDEX", std::to_string(index).c_str(), 1);
    EXPECT_EQ(run_words(shards), 0);
  }
  unsetenv("JOB_COMPLETION_INDEX");
  EXPECT_EQ(run_words(YAML::LoadFile(folder + "/merge.yaml")), 0);
  EXPECT_EQ(merged_bytes(whole), merged_bytes(folder));
  for (const std::string& each : {whole, folder, folder + "-tools"}) fs::remove_all(each);
}

// The fake hq behaves as the manual of HyperQueue says: it runs the command behind "--" for each
// index of --array, with the environment variable of the index.
TEST(SubmitSweep, HyperQueueRunsAnArrayAndMerges) {
  const std::string whole = whole_sweep(kTwelve, "submit-hq-whole");
  const std::string folder = expanded_sweep("submit-hq");
  const FakeTools tools(folder + "-tools");
  tools.add("hq",
            "for word; do\n"
            "  case $word in --array=0-*) last=${word#--array=0-};; "
            "--stderr=*) log=${word#--stderr=};; esac\n"
            "  if [ \"$word\" = -- ]; then break; fi\n"
            "done\n"
            "while [ \"$1\" != -- ]; do shift; done\n"
            "shift\n"
            "for i in $(seq 0 $last); do\n"
            "  HQ_TASK_ID=$i \"$@\" 2> \"$(echo \"$log\" | sed \"s/%{TASK_ID}/$i/\")\"\n"
            "done\n");
  const ProgramResult result =
      run_program("sweep submit " + folder + " --hyperqueue --shards 5 --time 1h");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("best snapshots.0.every"), std::string::npos) << result.out;
  EXPECT_NE(read_text(folder + "/shards.sh").find(" --time-limit=3600s "), std::string::npos);
  EXPECT_EQ(merged_bytes(whole), merged_bytes(folder));
  // The log is no terminal, so that it has lines instead of a progress bar.
  EXPECT_NE(read_text(folder + "/shard-4.log").find("Z [1/"), std::string::npos)
      << read_text(folder + "/shard-4.log");
  const ProgramResult status = run_program("sweep status " + folder + " --logs");
  EXPECT_NE(status.out.find("shard-4.log: "), std::string::npos) << status.out;
  for (const std::string& each : {whole, folder, folder + "-tools"}) fs::remove_all(each);
}

// ssh joins its arguments with blanks for the remote shell.
TEST(SubmitSweep, SshRunsAShardOnEachHostAndMerges) {
  const std::string whole = whole_sweep(kTwelve, "submit-ssh-whole");
  const std::string folder = expanded_sweep("submit ssh");
  const std::string tools_folder = scratch_folder("submit-ssh-tools");
  const FakeTools tools(tools_folder);
  tools.add("ssh",
            fmt::format("echo \"$5\" >> {}/hosts; shift 5; exec sh -c \"$*\"\n", tools_folder));
  const ProgramResult result =
      run_program("sweep submit '" + folder + "' --ssh 'node1,me@node2,$(touch x)' --option=-v");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("is not a host; expected [USER@]HOST,..., as"), std::string::npos)
      << result.err;
  const ProgramResult ran =
      run_program("sweep submit '" + folder + "' --ssh 'node1,me@node2,node1' --option=-v");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(lines_of(tools_folder + "/hosts"), 3U);
  EXPECT_NE(read_text(tools_folder + "/hosts").find("me@node2\n"), std::string::npos);
  EXPECT_EQ(merged_bytes(whole), merged_bytes(folder));
  for (const std::string& each : {whole, folder, tools_folder}) fs::remove_all(each);
}

// Shards see the folder under another path and call another program; their results are merged on
// this machine, and with ssh their logs are written here, too.
TEST(SubmitSweep, WhatRunsHereKeepsFolderAndProgram) {
  const std::string folder = expanded_sweep("submit-elsewhere");
  for (const std::string engine : {"--hyperqueue", "--ssh node1"}) {
    const ProgramResult printed = run_program(fmt::format(
        "sweep submit {} {} --print --folder /far/out --program /far/wt", folder, engine));
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_NE(printed.out.find("/far/wt sweep run /far/out "), std::string::npos) << printed.out;
    EXPECT_NE(printed.out.find(" sweep merge " + folder + "\n"), std::string::npos) << printed.out;
    EXPECT_EQ(printed.out.find("/far/wt sweep merge"), std::string::npos) << printed.out;
    if (engine == "--hyperqueue") continue;  // its workers write the logs
    EXPECT_NE(printed.out.find(">>" + folder + "/shard-0.log"), std::string::npos) << printed.out;
  }
  fs::remove_all(folder);
}

TEST(SubmitSweep, AnInterruptEndsEachSsh) {
  const std::string folder = expanded_sweep("submit-interrupted"), at = folder + "-tools";
  const FakeTools tools(at);
  tools.add("ssh", fmt::format("trap 'echo >> {0}/ended; exit' TERM\n"
                               "echo >> {0}/begun\n"
                               "for i in $(seq 100); do sleep 0.1; done\n",
                               at));
  std::ofstream(at + "/shards.sh")
      << run_program("sweep submit " + folder + " --ssh a,b --print").out;
  const std::string interrupt = fmt::format(
      "until_two() {{ for i in $(seq 50); do\n"
      "  test $(cat {0}/$1 2>/dev/null | wc -l) = 2 && return; sleep 0.1\n"
      "done; false; }}\n"
      "sh {0}/shards.sh & until_two begun && kill -TERM $!; wait $!; "
      "test $? = 130 && until_two ended",
      at);
  EXPECT_EQ(std::system(interrupt.c_str()), 0);
  for (const std::string& each : {folder, at}) fs::remove_all(each);
}

TEST(SubmitSweep, SaysWhichShardsRunWithoutAMerge) {
  const std::string folder = expanded_sweep("submit-half");
  const FakeTools tools(folder + "-tools");
  tools.add("sbatch", "case $2 in --dependency*) exit 1;; esac; echo 77\n");
  tools.add("sinfo", "case $* in *--all*) echo hidden;; *) echo seen;; esac\n");
  const ProgramResult result =
      run_program("sweep submit " + folder + " --slurm --partition hidden");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(result.err.find("scancel 77"), std::string::npos) << result.err;
  for (const std::string& each : {folder, folder + "-tools"}) fs::remove_all(each);
}

TEST(SubmitSweep, RefusesWhatItCannotPassOn) {
  const std::string folder = expanded_sweep("submit-refused");
  const auto expect_fault = [&](const std::string& arguments, const std::string& words) {
    const ProgramResult result = run_program("sweep submit " + folder + " --print " + arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments << result.out;
    EXPECT_NE(result.err.find(words), std::string::npos) << arguments << ": " << result.err;
  };
  expect_fault("", "one of --slurm, --kubernetes, --hyperqueue and --ssh");
  expect_fault("--slurm --kubernetes", "one of --slurm");
  expect_fault("--slurm --partition 'a b'", "one word");
  expect_fault("--slurm --account --evil", "--account");
  expect_fault("--slurm --account=--evil", "one word");
  expect_fault("--slurm --qos \"a'b\"", "one word");
  for (const char* time : {"0", "tomorrow", "1:2:3:4", "-5", "2 GB", "1-", "::", "99999999"}) {
    expect_fault(fmt::format("--slurm --time='{}'", time), "the time limit of a shard");
  }
  for (const char* memory : {"4", "G", "4GB", "-4G", "0G", "4 G"}) {
    expect_fault(fmt::format("--slurm --memory='{}'", memory), "as in 4G");
  }
  expect_fault("--slurm --option constraint=h100", "with its dashes");
  expect_fault("--slurm --option=--array=0-9", "take --shards");
  expect_fault("--slurm --option='-c 4'", "take --cpus");
  expect_fault("--slurm --option=\"--x\n#SBATCH --y\"", "a line break");
  expect_fault("--slurm --container a --wrapper b", "two ways into a container");
  expect_fault("--slurm --claim a:/b", "--claim applies to --kubernetes");
  expect_fault("--ssh node1 --account p1", "--account applies to --slurm");
  expect_fault("--ssh node1 --shards 4", "each host runs one shard");
  expect_fault("--ssh node1 --container x", "take --wrapper");
  expect_fault("--hyperqueue --memory 4G", "--memory applies to --slurm, --kubernetes");
  expect_fault("--kubernetes --claim a:/b", "name the image");
  expect_fault("--kubernetes --container x --claim a", "NAME:PATH");
  expect_fault("--kubernetes --container x --claim a:/b", "as in --folder");
  expect_fault("--kubernetes --container x --claim a:/b --folder b/c", "an absolute path");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace windtunnel
