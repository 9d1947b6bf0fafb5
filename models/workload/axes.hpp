// The axes of a layout as one table, for all code that reads, explains, names or prints them.
#pragma once

#include <array>
#include <string_view>

#include "models/workload/layout.hpp"

namespace windtunnel {

struct Axis {
  std::string_view name;  // "tp"
  std::string_view key;   // key in a scenario
  int Layout::*size;
  double most;  // upper bound in a scenario
  std::string_view example;
  std::string_view help;
  // how the value is derived if a scenario omits it; empty: it is 1
  std::string_view follows_from = {};
  bool of_schedule = false;  // needed by one schedule; not a dimension of the ranks
};

// The axis whose ranks work together most closely comes first. Experts are divided among ranks of
// the other axes.
inline constexpr std::array kAxes = {
    Axis{"tp", "layout.tp", &Layout::tp, 1e6, "8", "tensor parallel: ranks that divide each layer"},
    Axis{"cp", "layout.cp", &Layout::cp, 1e6, "1",
         "context parallel: ranks that divide each sequence"},
    Axis{"pp", "layout.pp", &Layout::pp, 1e4, "16",
         "pipeline parallel: ranks that divide the layers"},
    Axis{"vpp", "layout.vpp", &Layout::vpp, 1e4, "8",
         "model chunks per pipeline rank; default: the usual number of the schedule, 1 without a "
         "pipeline",
         "the schedule's usual", true},
    Axis{"dp", "layout.dp", &Layout::dp, 1e8, "128",
         "data parallel: replicas, which divide the batch; default: GPUs / (tp x cp x pp)",
         "GPUs / (tp x cp x pp)"},
    Axis{"ep", "layout.ep", &Layout::ep, 1e6, "8",
         "expert parallel: how many ranks of tp x cp x dp divide the experts of a layer"}};
inline constexpr std::string_view kLayoutExample = "{tp: 8, pp: 16, vpp: 8}";

}  // namespace windtunnel
