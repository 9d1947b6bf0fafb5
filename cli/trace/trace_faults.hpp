// windtunnel trace of node faults: a log read and fitted, and a scenario's failures written as one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/base/error.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

struct FaultImport {
  int nodes = 0;    // 0: as the file says
  double days = 0;  // 0: likewise
  std::string out;  // folder; empty: nothing is written
};

struct FaultExport {
  int nodes = 0;    // 0: the scenario's
  double days = 0;  // 0: the campaign's
  std::optional<std::uint64_t> seed;
};

bool is_fault_log(const std::string& path);  // by its name: .csv

ExitCode import_faults(const std::string& path, const FaultImport& options, bool json);
ExitCode export_faults(const Case& the_case, const std::string& out, const FaultExport& options);

}  // namespace windtunnel
