// Measured times of pipeline stages form a table (CSV) with one row per model, pipeline size and
// number of micro-batches: columns model, p, m, T_F_ms, T_B_ms (input gradient), T_W_ms, T_comm_ms
// (one message), for all layers of a rank. Other columns are kept in the table (bubble_SCHEDULE:
// published bubble rates).
#pragma once

#include <string>
#include <vector>

#include "traces/text/csv.hpp"

namespace windtunnel {

struct StageProfile {
  size_t table_row = 0;
  std::string model;  // "1.5B"
  int ranks = 0;
  int microbatches = 0;
  double forward_s = 0;
  double backward_input_s = 0;
  double backward_weight_s = 0;
  double message_s = 0;
};

struct StageProfiles {
  CsvTable table;
  std::vector<StageProfile> profiles;
};

// Whether the file has the header of stage profiles.
bool holds_stage_profiles(const std::string& path);

// Throws Error with file:line:column for a cell that is not a number or is negative.
StageProfiles read_stage_profiles(const std::string& path);

}  // namespace windtunnel
