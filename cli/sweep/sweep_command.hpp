// The parts of `windtunnel sweep`: a folder is begun, points are run, what is finished is merged.
// `windtunnel sweep SCENARIO` does all three; with `expand`, `run` and `merge` any launcher can do
// them on many machines that share the folder.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cli/program/command.hpp"
#include "cli/sweep/cluster_job.hpp"
#include "report/store/sweep_lines.hpp"

namespace windtunnel {

struct SweepGrid {
  std::string scenario;
  std::vector<std::string> vary;
  std::vector<std::string> set;
  int replicas = 0;  // 0: those of the scenario
  std::string out;
};

struct SweepShard {
  int index = 0;
  int count = 1;
};
// That launchers set for each of their tasks, counted from 0.
inline constexpr std::array kIndexVariables = {"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX",
                                               "HQ_TASK_ID", "OMPI_COMM_WORLD_RANK"};
// "2/8"; "auto/8" takes the index from the launcher's environment. Throws Error.
SweepShard parse_shard(const std::string& text);

// Writes cases.jsonl, or finds the same one there. Throws Error when another sweep is there.
SweepPlan begin_sweep(const SweepGrid& grid, int threads);
// Throws Error where no sweep was begun, or one by another version.
SweepPlan open_sweep(const std::string& folder);
SweepHead open_head(const std::string& folder);  // the same without its cases

struct ShardOutput {
  bool log = false;    // progress in lines, for a file, where stderr is no terminal
  int write_once = 0;  // SweepPart: seconds between its files; 0: one that grows
};
// Runs what is missing of the shard. ExitCode::incomplete when SIGINT or SIGTERM came: the points
// under way were finished, and it has said how to go on.
ExitCode run_shard(const std::string& folder, const SweepPlan& plan, const SweepShard& shard,
                   int threads, const ShardOutput& output = {});

// Writes and shows the results of all points that are finished; ExitCode::incomplete when some are
// missing.
ExitCode merge_sweep(const std::string& folder, bool json);

// `logs`: with the last line of each shard's log.
ExitCode show_sweep_status(const std::string& folder, bool json, bool logs);

// Writes what the engine reads into the folder and hands it over, or prints it. Empty members of
// the job that have a default get it.
ExitCode submit_sweep(const std::string& folder, ClusterJob job, bool print);

}  // namespace windtunnel
