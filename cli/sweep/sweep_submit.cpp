// windtunnel sweep submit sends a sweep's shards to a batch system, and a merge to run after them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "cli/program/output.hpp"
#include "cli/program/shell_line.hpp"
#include "cli/sweep/cluster_job.hpp"
#include "cli/sweep/sweep_command.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr int kDefaultShards = 16;

// One more than Slurm's largest array index; nothing if Slurm is not installed.
std::optional<int> most_shards() {
  std::istringstream lines(output_of("scontrol show config 2>/dev/null").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("MaxArraySize")) continue;
    const std::string value(trimmed(line.substr(line.find('=') + 1)));
    int number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    if (number > 0) return number;
  }
  return {};
}

// Checks the partition if sinfo can list them. Slurm accepts several with commas and uses the first
// suitable one.
void check_partition(const std::string& wanted) {
  const std::optional<std::string> answer =
      output_of("sinfo --all --noheader --format=%R 2>/dev/null");
  if (!answer || trimmed(*answer).empty() || wanted.empty()) return;
  std::vector<std::string> known;
  std::istringstream lines(*answer);
  for (std::string line; std::getline(lines, line);) known.emplace_back(trimmed(line));
  std::istringstream names(wanted);
  for (std::string name; std::getline(names, name, ',');) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error(fmt::format("--partition: {}", unknown_name("partition", name, known)));
  }
}

std::string submitted(const std::string& arguments) {
  const std::optional<std::string> answer = output_of("sbatch --parsable " + arguments);
  if (!answer) {
    throw Error("sbatch failed or is not installed; --print shows the scripts", ExitCode::failed);
  }
  return answer->substr(0, answer->find_first_of(";\n"));  // "ID" or "ID;cluster"
}

struct Files {
  std::string shards, merge;  // paths
};

Files written(const std::string& folder, const JobFiles& texts, const std::string& ending) {
  Files paths = {folder + "/shards" + ending, folder + "/merge" + ending};
  write_file(paths.shards, texts.shards);
  if (!texts.merge.empty()) write_file(paths.merge, texts.merge);
  return paths;
}

ExitCode submit_to_slurm(const std::string& folder, const Files& paths, int shards) {
  const std::string id = submitted(shell_word(paths.shards));
  std::string merge_id;
  try {
    // afterany: the merge also reports missing points.
    merge_id = submitted(fmt::format("--dependency=afterany:{} {}", id, shell_word(paths.merge)));
  } catch (const Error& error) {
    throw Error(fmt::format("the merge was not submitted, and the shards run as job {0}: merge "
                            "them later with windtunnel sweep merge {1}, or end them with "
                            "scancel {0}; {2}",
                            id, shell_word(folder), error.what()),
                ExitCode::failed);
  }
  print_result(
      fmt::format("submitted {} shards as job {} and the merge as job {}; see: "
                  "windtunnel sweep status {} --logs\n",
                  shards, id, merge_id, shell_word(folder)));
  return ExitCode::ok;
}

ExitCode submit_to_kubernetes(const ClusterJob& job, const Files& paths) {
  const std::string place =
      job.name_space.empty() ? "" : fmt::format(" -n {}", shell_word(job.name_space));
  const std::string name = kubernetes_name(job);
  // Deletes Jobs of an earlier submission, because a finished Job cannot restart and a running one
  // can hardly be changed. Foreground: waits until their pods are deleted, too.
  const std::optional<std::string> deleted = output_of(fmt::format(
      "kubectl delete job{0} {1} {1}-merge --ignore-not-found --cascade=foreground", place, name));
  const std::optional<std::string> answer =
      deleted ? output_of("kubectl apply -f " + shell_word(paths.shards)) : std::nullopt;
  if (!answer) {
    throw Error("kubectl failed or is not installed; --print shows the manifests",
                ExitCode::failed);
  }
  // `kubectl wait` waits for a single condition, but the merge must follow both success and
  // failure.
  print_result(fmt::format(
      "{0}logs: kubectl logs{1} -l job-name={2} --prefix --tail=1\n"
      "then: until kubectl get{1} job/{2} -o jsonpath='{{.status.conditions[*].type}}' | "
      "grep -qwE 'Complete|Failed'; do sleep 10; done; kubectl apply -f {3}\n",
      *answer, place, name, shell_word(paths.merge)));
  return ExitCode::ok;
}

// Runs in the foreground: the script ends with the merge and returns its exit code.
ExitCode run_script(const std::string& path) {
  const int status = std::system(("sh " + shell_word(path)).c_str());
  if (status == -1 || !WIFEXITED(status)) {
    throw Error(Location{path}, "ended before it was finished", ExitCode::failed);
  }
  return static_cast<ExitCode>(WEXITSTATUS(status));
}

JobFiles files_of(const ClusterJob& job) {
  switch (job.engine) {
    case Engine::slurm:
      return slurm_scripts(job);
    case Engine::kubernetes:
      return kubernetes_manifests(job);
    case Engine::hyperqueue:
      return hyperqueue_script(job);
    case Engine::ssh:
      return ssh_script(job);
  }
  return {};
}

// Limits the shards to the number of points and to the engine's limit; returns a note if the engine
// limits them.
std::string settle_shards(ClusterJob& job, int points) {
  if (job.engine == Engine::ssh) {
    if (job.shards > 0) throw Error("--ssh: each host runs one shard; leave out --shards");
    job.shards = static_cast<int>(job.hosts.size());
    return "";
  }
  job.shards = std::min(job.shards > 0 ? job.shards : kDefaultShards, points);
  if (job.engine != Engine::slurm) return "";
  const std::optional<int> most = most_shards();
  if (!most || *most >= job.shards) return "";
  const int wanted = std::exchange(job.shards, *most);
  return fmt::format("{} shards instead of {}, because of MaxArraySize of this cluster\n", *most,
                     wanted);
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

ExitCode submit_sweep(const std::string& folder, ClusterJob job, bool print) {
  job.place = without_slash(fs::absolute(folder).lexically_normal());
  job.folder = job.folder.empty() ? job.place : without_slash(job.folder);
  job.here = fs::read_symlink("/proc/self/exe");
  const bool in_container = !job.container.empty() || !job.wrapper.empty();
  if (job.program.empty()) job.program = in_container ? "windtunnel" : job.here;
  if (job.engine != Engine::ssh) job.cpus = std::max(job.cpus, 1);
  check_job(job);
  const std::string note = settle_shards(job, static_cast<int>(open_head(folder).keys.size()));
  const JobFiles texts = files_of(job);
  if (print) {
    const char* between = job.engine == Engine::kubernetes ? "---\n" : "\n";
    print_result(texts.shards + (texts.merge.empty() ? "" : between + texts.merge));
    print_human(note, true);
    return ExitCode::ok;
  }
  if (job.engine == Engine::slurm) check_partition(job.partition);
  const Files paths = written(job.place, texts, job.engine == Engine::kubernetes ? ".yaml" : ".sh");
  print_human(note, false);
  switch (job.engine) {
    case Engine::slurm:
      return submit_to_slurm(folder, paths, job.shards);
    case Engine::kubernetes:
      return submit_to_kubernetes(job, paths);
    case Engine::hyperqueue:
    case Engine::ssh:
      return run_script(paths.shards);
  }
  return ExitCode::ok;
}

}  // namespace windtunnel
