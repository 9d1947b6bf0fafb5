// The kinds of measured rows that the simulator predicts: how each is read, judged and reported.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/nccl/nccl_tests.hpp"
#include "validate/commands/verdict.hpp"

namespace windtunnel {

struct ValidateOptions : VerdictOptions {
  std::vector<std::string> files;  // as given; a folder means its .csv files
  // The files in `files`, with a folder's files by name. Throws Error for a folder without any.
  std::vector<std::string> tables() const;
  // JudgedKind says which of the following options a kind of rows has.
  std::string where;
  std::string fit_where;
  std::vector<std::string> calibrate_on;
  std::string calibration;
  bool one_point = false;
  std::string measured;        // path for the library's table of training runs; empty: none
  std::string measured_pairs;  // the same, of how far speed-ups were off
  std::string row;             // a training run to write as a scenario; empty: none
  std::string row_file;        // path for it; empty: stdout
  LogContext log;              // for collectives
  bool pairs = false;
  int worst = 5;
  int threads = 0;
};

// Adds -j.
void add_threads(CLI::App& app, ValidateOptions& options);

// Returns the .csv files of a folder, by name.
std::vector<std::string> tables_in(const std::string& folder);

// Returns the commands that make pages again; `what` is the subcommand. The portable command leaves
// out the folders of files given by absolute path.
PageCommands commands_of(const ValidateOptions& options, std::string_view what);

// A kind of rows: the name of its subcommand, the columns by which a file is recognised, and the
// function that judges it. An empty text means that it has no such option.
struct JudgedKind {
  std::string name;
  std::vector<std::vector<std::string>> columns;  // any of these lists identifies it
  std::string help;
  std::string files = {};
  // --fail-above bounds the mean error of these rows; empty: it bounds the share of values outside
  // ranges.
  std::string bound = {};
  std::string where = {};  // an example of a filter
  std::string fit_where = {}, calibrate_on = {}, calibration = {}, markdown = {};
  bool worst = false, threads = false;
  std::string example = {};
  std::function<Validation(const ValidateOptions& options)> judge = {};
  // Adds options that no other kind has.
  void (*add)(CLI::App& app, ValidateOptions& options) = nullptr;
};
const std::vector<JudgedKind>& judged_kinds();
// Recognises the kind of a file by its header; null: unknown. Throws Error if it has no header.
const JudgedKind* kind_of_rows(const std::string& path);
// Throws Error for a file of another kind.
void check_kind(const JudgedKind& kind, const ValidateOptions& options);
// Lists the columns of each kind: "runs (seq, global_batch, tp, iter_time_s), ...".
std::string known_row_kinds();

// Writes the training run named by `row` as a scenario.
ExitCode write_row(const ValidateOptions& options);

}  // namespace windtunnel
