#include "traces/rows/stage_profile.hpp"

#include <fmt/format.h>

#include "models/base/error.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr const char* kForward = "T_F_ms";

double seconds(const CsvTable& table, size_t row, const char* column) {
  constexpr double kMillisecond = 1e-3;
  const size_t at = table.column(column);
  const double value = table.number(row, at);
  if (value < 0) {
    throw Error({table.file(), table.line(row), static_cast<int>(at) + 1},
                fmt::format("column '{}': a time is negative", column));
  }
  return value * kMillisecond;
}

}  // namespace

bool holds_stage_profiles(const std::string& path) {
  std::vector<CsvFault> faults;  // faults of rows; only the header matters here
  return CsvTable::parse(read_file(path), path, &faults).has(kForward);
}

StageProfiles read_stage_profiles(const std::string& path) {
  StageProfiles read{CsvTable::read(path), {}};
  const CsvTable& table = read.table;
  for (size_t row = 0; row < table.rows(); ++row) {
    StageProfile profile;
    profile.table_row = row;
    profile.model = table.text(row, table.column("model"));
    profile.ranks = table.integer(row, table.column("p"));
    profile.microbatches = table.integer(row, table.column("m"));
    profile.forward_s = seconds(table, row, kForward);
    profile.backward_input_s = seconds(table, row, "T_B_ms");
    profile.backward_weight_s = seconds(table, row, "T_W_ms");
    profile.message_s = seconds(table, row, "T_comm_ms");
    read.profiles.push_back(std::move(profile));
  }
  return read;
}

}  // namespace windtunnel
