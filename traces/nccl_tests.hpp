// Timings of collectives: the output of nccl-tests (its table of text, its JSON) and rows gathered
// from it (CSV, columns as in docs/validation-collectives.md). Times in seconds, sizes as in the
// tool's size column.
#pragma once

#include <string>
#include <vector>

#include "models/collective.hpp"

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
};

struct CollectiveRows {
  std::string path;
  std::vector<CollectiveRow> rows;
};

// What a log itself does not say.
struct LogContext {
  std::string machine;
  std::string network;
};

// Throws Error with file:line:column: an unknown column or collective (nearest name), a number that
// is none, a row that ends early, bandwidths that contradict size and time.
CollectiveRows read_collective_rows(const std::string& path);                    // CSV
CollectiveRows read_nccl_tests(const std::string& path, const LogContext& log);  // text or JSON

}  // namespace windtunnel
