// The request of `windtunnel sweep submit` to a cluster, and the scripts and manifests for Slurm,
// Kubernetes, HyperQueue and plain ssh. All of them start `sweep run --shard auto/N` N times on
// machines that share the sweep's folder; docs/guide/clusters.md shows their use.
#pragma once

#include <string>
#include <vector>

namespace windtunnel {

enum class Engine { slurm, kubernetes, hyperqueue, ssh };

struct ClusterJob {
  Engine engine = Engine::slurm;
  std::string folder;   // of the sweep, as shards see it; absolute
  std::string program;  // as shards call it
  std::string place;    // the folder on this machine; absolute
  std::string here;     // the program on this machine
  int shards = 16;
  int cpus = 0;                         // of each shard; 0: one, or with ssh all of the host's
  int write_once = 0;                   // `sweep run --write-once`; 0: without
  std::string time;                     // limit for a shard, as the user wrote it; empty: no limit
  std::string memory;                   // of each shard, "4G"
  std::string partition, account, qos;  // of Slurm
  std::string container;                // image: of pyxis under Slurm, of the pods of Kubernetes
  std::string wrapper;                  // words in front of the program, "apptainer exec IMAGE"
  std::vector<std::string> options;     // passed unchanged to sbatch, hq submit or ssh
  std::string name_space, claim;        // of Kubernetes; the claim as NAME:PATH
  std::vector<std::string> hosts;       // of ssh
};

// "slurm"
const char* name_of(Engine engine);

// Throws Error with the option's name and an alternative, for an option that the engine does not
// have and for a value that the engine would reject or misread.
void check_job(const ClusterJob& job);

// Parses "90 min", "2 h", and Slurm's forms "30" (minutes), "30:00", "2:00:00", "1-12", "1-12:30"
// or "1-12:30:00" into seconds. Throws Error.
long time_limit_s(const std::string& text);

// Commands for a shell. `index` is that of a shard, or "auto" if a variable of the engine has it.
std::string shard_command(const ClusterJob& job, const std::string& index = "auto");
std::string merge_command(const ClusterJob& job);
std::string merge_here(const ClusterJob& job);  // on this machine

struct JobFiles {
  // Script of the shards, or of everything if the engine's own tool waits for shards.
  std::string shards;
  std::string merge;  // empty: in `shards`
};
JobFiles slurm_scripts(const ClusterJob& job);
JobFiles kubernetes_manifests(const ClusterJob& job);
JobFiles hyperqueue_script(const ClusterJob& job);
JobFiles ssh_script(const ClusterJob& job);

// The name of the Job in Kubernetes, made from the folder's: "windtunnel-out-3fa2c1". The suffix
// separates folders of the same name.
std::string kubernetes_name(const ClusterJob& job);

}  // namespace windtunnel
