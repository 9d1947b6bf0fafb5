// Timings of collectives: the output of nccl-tests (its text table or its JSON) and rows collected
// from it (CSV, columns as in docs/results/validation-collectives.md). Times are in seconds; sizes
// are those of the tool's size column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/collectives/collective.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {

struct CollectiveRow {
  std::string id;       // "file:line"
  std::string source;   // address
  std::string machine;  // label
  std::string gpu;      // as printed: "NVIDIA H100 80GB HBM3"
  int gpus = 0;         // number of ranks
  int nodes = 0;        // 0: not stated
  std::string network;  // as printed: "InfiniBand NDR 8x400Gb/s/node"
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;
  double seconds = 0;
  double algbw_Bps = 0;
  double busbw_Bps = 0;
  bool in_place = false;
  std::string nccl_version;
  std::string dtype;
  std::string notes;
  std::string check;       // "", "derived", "inconsistent"
  std::string nodes_used;  // in a file of pairs: the nodes
  // Why the row is not a usable measurement: its source marks it as inconsistent, its results were
  // wrong, nothing was moved, or the collective is not modelled. Empty: it is usable.
  std::string unusable = {};
  size_t table_row = 0;  // in CollectiveRows::table
};

struct CollectiveRows {
  std::string path;
  std::vector<CollectiveRow> rows;
  CsvTable table = {};                       // for filters; a log gets the CSV's columns
  std::vector<UnusableRow> unreadable = {};  // of a CSV, in the order of the file
};

// Facts that a log does not contain.
struct LogContext {
  std::string machine;
  std::string network;
  // The collective, which overrides the log and its file name; if it is empty, they state it.
  std::string collective = {};
};

// Faults are an unknown collective (with the nearest name), a malformed number, a row that ends
// early, and bandwidths that contradict size and time. A faulty row of a CSV is added to
// `unreadable`, and reading continues. Throws Error with file:line:column for a fault in a log,
// which must have been cut or mixed, and for a missing or unknown column.
CollectiveRows read_collective_rows(const std::string& path);  // CSV

// The same from text.
CollectiveRows parse_collective_rows(std::string_view text, const std::string& file);
CollectiveRows parse_nccl_tests(std::string_view text, const std::string& file,
                                const LogContext& log);
// Detects the format: a log starts with '{' or '#' or has lines that start with "# "; a CSV has a
// header with the column time_us.
CollectiveRows read_collectives(const std::string& path, const LogContext& log = {});

// Whether the text is a log of nccl-tests.
bool is_nccl_log(std::string_view text);

// Returns 21 for "2.21.5"; 0 if the text does not name a release of NCCL 2, or names another
// library.
int nccl_release(std::string_view version);

// Returns the number of ranks that are threads of one process according to a log's header ("Rank 0
// Group 0 Pid 17 on host ..."); that process launches them one after the other. 0 if the log has no
// such lines.
int process_ranks(std::string_view log);

// busbw / algbw of nccl-tests (doc/PERFORMANCE.md): 2(n-1)/n for all_reduce, ...
double bus_factor(CollectiveKind kind, int ranks);

}  // namespace windtunnel
