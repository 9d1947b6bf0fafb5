// The kinds of measured rows that the simulator predicts, each read, judged and told about.
#pragma once

#include <string>
#include <vector>

#include "cli/validate/verdict.hpp"
#include "traces/nccl/nccl_tests.hpp"

namespace windtunnel {

struct ValidateOptions : VerdictOptions {
  std::vector<std::string> files;  // as given: a folder stands for its .csv files
  // Those that `files` names, a folder's by name. Throws Error where a folder has none.
  std::vector<std::string> tables() const;
  // Training runs and collectives.
  std::string where;
  std::string fit_where;
  std::vector<std::string> calibrate_on;
  std::string calibration;
  bool one_point = false;
  std::string measured;  // where the library's table of training runs goes; empty: nowhere
  std::string row;       // of training runs, to be written as a scenario; empty: none
  std::string row_file;  // where it goes; empty: stdout
  LogContext log;        // collectives
  bool pairs = false;
  int worst = 5;
  int threads = 0;
};

// The .csv files of a folder, by name.
std::vector<std::string> tables_in(const std::string& folder);

// What to type to make a page again; `what` is the subcommand. portable: files that are named from
// the root on without their folders, for pages that are kept beside others' files.
enum class FileNames { as_given, portable };
std::string command_of(const ValidateOptions& options, const char* what, FileNames names);

Validation against_schedules(const ValidateOptions& options);
Validation against_runs(const ValidateOptions& options);
// The row of training runs that `row` names, as a scenario.
ExitCode write_row(const ValidateOptions& options);
Validation against_collectives(const ValidateOptions& options);
Validation against_compression(const ValidateOptions& options);
Validation against_faults(const ValidateOptions& options);
Validation against_checkpoints(const ValidateOptions& options);

}  // namespace windtunnel
