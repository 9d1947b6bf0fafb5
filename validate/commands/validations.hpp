// The kinds of measured rows that the simulator predicts, each read, judged and told about.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/nccl/nccl_tests.hpp"
#include "validate/commands/verdict.hpp"

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

// -j
void add_threads(CLI::App& app, ValidateOptions& options);

// The .csv files of a folder, by name.
std::vector<std::string> tables_in(const std::string& folder);

// What to type to make pages again; `what` is the subcommand. portable: files that are named from
// the root on without their folders.
PageCommands commands_of(const ValidateOptions& options, std::string_view what);

// A kind of rows: the subcommand of `validate` that its name is, the columns that tell a file of
// them, and how it is judged. Empty texts: it has no such option.
struct JudgedKind {
  std::string name;
  std::vector<std::vector<std::string>> columns;  // each list tells it
  std::string help;
  std::string files = {};
  std::string bound =
      {};  // whose mean error --fail-above bounds; empty: the share that lies outside
  std::string where = {};  // an example of it
  std::string fit_where = {}, calibrate_on = {}, calibration = {}, markdown = {};
  bool worst = false, threads = false;
  std::string example = {};
  std::function<Validation(const ValidateOptions& options)> judge = {};
  // Options that no other kind has.
  void (*add)(CLI::App& app, ValidateOptions& options) = nullptr;
};
const std::vector<JudgedKind>& judged_kinds();
// Finds the kind of a file by its header alone; null: none that is known. Throws Error where it has
// no header.
const JudgedKind* kind_of_rows(const std::string& path);
// Throws Error for a file whose header tells another kind.
void check_kind(const JudgedKind& kind, const ValidateOptions& options);
// The columns that tell each kind: "runs (seq, global_batch, tp, iter_time_s), ...".
std::string known_row_kinds();

// The row of training runs that `row` names, as a scenario.
ExitCode write_row(const ValidateOptions& options);

}  // namespace windtunnel
