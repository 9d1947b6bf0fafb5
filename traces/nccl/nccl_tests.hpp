// Timings of collectives: the output of nccl-tests (its table of text, its JSON) and rows gathered
// from it (CSV, columns as in docs/results/validation-collectives.md). Times in seconds, sizes as
// in the tool's size column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/collectives/collective.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {

struct CollectiveRow {
  std::string id;       // file:line
  std::string source;   // address
  std::string machine;  // label
  std::string gpu;      // as printed: "NVIDIA H100 80GB HBM3"
  int gpus = 0;         // ranks
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
  std::string nodes_used;  // pairwise file: which nodes
  // Why the row is no measurement: its source marks it as inconsistent, results were wrong, nothing
  // was moved, no such collective is modelled. Empty: it is one.
  std::string unusable = {};
  size_t table_row = 0;  // in CollectiveRows::table
};

struct CollectiveRows {
  std::string path;
  std::vector<CollectiveRow> rows;
  CsvTable table = {};                       // for filters; that of a log has the CSV's columns
  std::vector<UnusableRow> unreadable = {};  // of a CSV, in the order of the file
};

// What a log itself does not say.
struct LogContext {
  std::string machine;
  std::string network;
  // Which collective ran, whatever the log or its name says; empty: as these say.
  std::string collective = {};
};

// Faults are an unknown collective (nearest name), a number that is none, a row that ends early,
// bandwidths that contradict size and time. A row of a CSV with a fault goes to `unreadable`, and
// the next one is read. Throws Error with file:line:column for a fault in a log, which was cut or
// mixed, and for a column that is missing or unknown.
CollectiveRows read_collective_rows(const std::string& path);                    // CSV
CollectiveRows read_nccl_tests(const std::string& path, const LogContext& log);  // text or JSON

// The same from text.
CollectiveRows parse_collective_rows(std::string_view text, const std::string& file);
CollectiveRows parse_nccl_tests(std::string_view text, const std::string& file,
                                const LogContext& log);
// Whichever of the three it is: a log starts with '{' or '#' or has lines of "# ", a table of rows
// has a header with the column time_us.
CollectiveRows read_collectives(const std::string& path, const LogContext& log = {});

// Whether it is such a log.
bool is_nccl_log(std::string_view text);

// 21 of "2.21.5"; 0 where the text names no release of NCCL 2, or another library.
int nccl_release(std::string_view version);

// Ranks that a log's header says are threads of one process ("Rank 0 Group 0 Pid 17 on host ..."),
// which launches for them one after the other; 0: it does not say.
int process_ranks(std::string_view log);

// busbw / algbw of nccl-tests (doc/PERFORMANCE.md): 2(n-1)/n for all_reduce, ...
double bus_factor(CollectiveKind kind, int ranks);

}  // namespace windtunnel
