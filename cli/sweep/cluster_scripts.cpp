// Writes the scripts and manifests with which Slurm, Kubernetes, HyperQueue and ssh run a sweep.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>

#include "cli/program/override_options.hpp"
#include "cli/program/shell_line.hpp"
#include "cli/sweep/cluster_job.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {
namespace {

// Doubles each %, which sbatch would replace in file names.
std::string without_patterns(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text;
}

std::string option_line(const char* name, const std::string& value) {
  return value.empty() ? "" : fmt::format("#SBATCH --{}={}\n", name, value);
}

// Returns "1-02:03:04"; Slurm counts whole minutes.
std::string slurm_time(const std::string& text) {
  if (text.empty()) return "";
  const long minutes = (time_limit_s(text) + 59) / 60;
  return fmt::format("{}-{:02}:{:02}:00", minutes / 1440, minutes / 60 % 24, minutes % 60);
}

// The scripts for the shards and for the merge begin with these lines.
std::string slurm_head(const ClusterJob& job, const char* name, const std::string& log) {
  std::string head = fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --output={}\n"
      "#SBATCH --open-mode=append\n",
      name, shell_word(without_patterns(job.folder) + log));
  head += option_line("partition", job.partition) + option_line("account", job.account) +
          option_line("qos", job.qos) + option_line("time", slurm_time(job.time)) +
          option_line("mem", job.memory);
  for (const std::string& option : job.options) head += fmt::format("#SBATCH {}\n", option);
  return head;
}

// Starts the program with srun: it knows the options of pyxis in every version, and since Slurm
// 22.05 it does not inherit the number of cores from sbatch.
std::string slurm_words(const ClusterJob& job, int cpus) {
  if (job.container.empty()) return "exec ";
  const std::string mounts = fmt::format("{0}:{0}", job.folder);
  return fmt::format("exec srun --cpus-per-task={} --container-image={} --container-mounts={} ",
                     cpus, shell_word(job.container), shell_word(mounts));
}

// Quotes a text for YAML: every JSON string is valid YAML.
std::string yaml(const std::string& text) {
  std::string quoted = json_text(Json(text), -1);
  if (quoted.ends_with('\n')) quoted.pop_back();
  return quoted;
}

std::string yaml_list(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "[" : ", ") + yaml(word);
  return list + "]";
}

std::string kubernetes_job(const ClusterJob& job, const std::string& name, const std::string& kind,
                           const std::vector<std::string>& command) {
  const size_t colon = job.claim.find(':');
  const std::string place = job.name_space.empty()
                                ? std::string()
                                : fmt::format("  namespace: {}\n", yaml(job.name_space));
  // The deadline is per pod; in the Job's own spec it would cover all pods and their retries.
  const std::string deadline =
      job.time.empty() ? std::string()
                       : fmt::format("      activeDeadlineSeconds: {}\n", time_limit_s(job.time));
  const std::string memory =
      job.memory.empty() ? std::string() : fmt::format(", memory: {}", yaml(job.memory + "i"));
  return fmt::format(
      "apiVersion: batch/v1\n"
      "kind: Job\n"
      "metadata:\n"
      "  name: {}\n{}"
      "spec:\n{}"
      "  template:\n"
      "    spec:\n{}"
      "      restartPolicy: Never\n"
      "      containers:\n"
      "        - name: windtunnel\n"
      "          image: {}\n"
      "          command: {}\n"
      "          resources:\n"
      "            requests: {{cpu: {}{}}}\n"
      "{}"
      "          volumeMounts:\n"
      "            - {{name: sweep, mountPath: {}}}\n"
      "      volumes:\n"
      "        - name: sweep\n"
      "          persistentVolumeClaim: {{claimName: {}}}\n",
      yaml(name), place, kind, deadline, yaml(job.container), yaml_list(command),
      std::max(job.cpus, 1), memory,
      job.memory.empty()
          ? ""
          : fmt::format("            limits: {{memory: {}}}\n", yaml(job.memory + "i")),
      yaml(job.claim.substr(colon + 1)), yaml(job.claim.substr(0, colon)));
}

}  // namespace

JobFiles slurm_scripts(const ClusterJob& job) {
  const std::string array =
      fmt::format("#SBATCH --array=0-{}\n#SBATCH --cpus-per-task={}\n", job.shards - 1, job.cpus);
  return {slurm_head(job, "windtunnel-sweep", "/shard-%a.log") + array +
              slurm_words(job, job.cpus) + shard_command(job) + "\n",
          slurm_head(job, "windtunnel-merge", "/merge.log") + slurm_words(job, 1) +
              merge_command(job) + "\n"};
}

std::string kubernetes_name(const ClusterJob& job) {
  constexpr size_t kMost = 32;  // a name has 63 at most, and pods add an index and five letters
  std::string name = "windtunnel-";
  for (const char c : std::filesystem::path(job.folder).filename().string().substr(0, kMost)) {
    const auto letter = static_cast<unsigned char>(c);
    name += std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter)) : '-';
  }
  while (name.ends_with('-')) name.pop_back();
  const std::string place = job.claim.substr(0, job.claim.find(':')) + ":" + job.folder;
  return fmt::format("{}-{:06x}", name, std::hash<std::string>()(place) & 0xffffff);
}

JobFiles kubernetes_manifests(const ClusterJob& job) {
  const std::string name = kubernetes_name(job);
  std::vector<std::string> run = {job.program, "sweep",
                                  "run",       job.folder,
                                  "--shard",   fmt::format("auto/{}", job.shards),
                                  "-j",        fmt::format("{}", std::max(job.cpus, 1))};
  if (job.write_once > 0) {
    run.insert(run.end(), {"--write-once", fmt::format("{}", job.write_once)});
  }
  // A pod that is evicted or killed restarts with its index.
  const std::string indexed = fmt::format(
      "  completionMode: Indexed\n"
      "  completions: {0}\n"
      "  parallelism: {0}\n"
      "  backoffLimit: {1}\n",
      job.shards, 3 * job.shards);
  return {kubernetes_job(job, name, indexed, run),
          kubernetes_job(job, name + "-merge", "  backoffLimit: 2\n",
                         {job.program, "sweep", "merge", job.folder})};
}

JobFiles hyperqueue_script(const ClusterJob& job) {
  std::string options;
  if (!job.time.empty()) options += fmt::format(" --time-limit={}s", time_limit_s(job.time));
  for (const std::string& option : job.options) options += " " + option;
  // hq replaces %{NAME} in paths, and workers write the logs; the merge runs on this machine.
  const std::string folder = job.folder;
  return {fmt::format("#!/bin/sh\n"
                      "hq submit --name=windtunnel-sweep --array=0-{} --cpus={}{} --wait \\\n"
                      "  --stdout={} --stderr={} \\\n"
                      "  -- {}\n"
                      "exec {}\n",
                      job.shards - 1, std::max(job.cpus, 1), options,
                      shell_word(folder + "/shard-%{TASK_ID}.out"),
                      shell_word(folder + "/shard-%{TASK_ID}.log"), shard_command(job),
                      merge_here(job)),
          {}};
}

JobFiles ssh_script(const ClusterJob& job) {
  std::string options = " -o BatchMode=yes";
  for (const std::string& option : job.options) options += " " + option;
  // Each ssh runs in the background, where Ctrl-C does not reach it.
  std::string script =
      "#!/bin/sh\n"
      "pids=\n"
      "trap 'kill $pids 2>/dev/null; exit 130' INT TERM\n";
  for (size_t i = 0; i < job.hosts.size(); ++i) {
    const std::string log = fmt::format("{}/shard-{}.log", job.place, i);
    script += fmt::format("ssh -n{} {} {} >>{} 2>&1 &\npids=\"$pids $!\"\n", options,
                          shell_word(job.hosts[i]),
                          shell_word(shard_command(job, fmt::format("{}", i))), shell_word(log));
  }
  return {script + "wait\ntrap - INT TERM\nexec " + merge_here(job) + "\n", {}};
}

}  // namespace windtunnel
