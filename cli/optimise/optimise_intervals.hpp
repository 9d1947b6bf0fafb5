// windtunnel optimise --over snapshots.N.every: how often to take snapshots.
#pragma once

#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "sim/study/interval_search.hpp"

namespace windtunnel {

struct IntervalCommand {
  std::string scenario;
  std::vector<std::string> set;
  IntervalSearchOptions options;
  bool json = false;
  std::string page = {};  // where it goes; empty: nowhere
};

ExitCode optimise_intervals(IntervalCommand command);

}  // namespace windtunnel
