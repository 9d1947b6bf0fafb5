// The steps of `windtunnel sweep`: begin a folder, run points, merge what is finished. `windtunnel
// sweep SCENARIO` does all three; with `expand`, `run` and `merge` any launcher can do them on many
// machines that share the folder.
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
// A launcher sets one of these variables to the number of its task, counted from 0.
inline constexpr std::array kIndexVariables = {"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX",
                                               "HQ_TASK_ID", "OMPI_COMM_WORLD_RANK"};
// Parses "2/8"; "auto/8" takes the index from the launcher's environment. Throws Error.
SweepShard parse_shard(const std::string& text);

// Writes cases.jsonl, or accepts an equal one. Throws Error if the folder has another sweep.
SweepPlan begin_sweep(const SweepGrid& grid, int threads);
// Throws Error if the folder has no sweep, or one of another version.
SweepPlan open_sweep(const std::string& folder);
SweepHead open_head(const std::string& folder);  // the same without its cases

struct ShardOutput {
  bool log = false;    // prints progress in lines if stderr is not a terminal, for a log file
  int write_once = 0;  // seconds between files of SweepPart; 0: one file that grows
};
// Runs the missing points of the shard. ExitCode::incomplete after SIGINT or SIGTERM: points in
// progress are completed first, and a message says how to continue.
ExitCode run_shard(const std::string& folder, const SweepPlan& plan, const SweepShard& shard,
                   int threads, const ShardOutput& output = {});

// Writes and shows the results of all finished points; ExitCode::incomplete if some are missing.
ExitCode merge_sweep(const std::string& folder, bool json);

// `logs`: also shows the last line of each shard's log.
ExitCode show_sweep_status(const std::string& folder, bool json, bool logs);

// Writes the engine's input into the folder and submits it, or prints it. Empty members of the job
// get their defaults.
ExitCode submit_sweep(const std::string& folder, ClusterJob job, bool print);

}  // namespace windtunnel
