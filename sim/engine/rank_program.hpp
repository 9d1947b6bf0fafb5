// A Plan prepared for simulation: its task lists, the ranks to simulate, and their transfers as
// folded flows, in plain arrays without SimGrid types.
#pragma once

#include <cstdint>
#include <vector>

#include "models/plan/class_template.hpp"
#include "sim/engine/fold.hpp"

namespace windtunnel {

// An edge of a folded collective. The simulated rank that represents its source sends it.
struct GroupEdge {
  std::int32_t rank = 0;  // index into Folding::ranks
  std::int32_t slot = 0;
  FlowIndex flow = 0;  // folded flow
  double bytes = 0;    // bytes for each byte of the buffer
  auto owner() const { return std::pair(rank, slot); }
};

struct FoldedGroup {
  int arrivals = 0;                              // number of pairs (simulated rank, slot) that meet
  std::vector<std::vector<GroupEdge>> patterns;  // [pattern], ascending by owner
};

struct Program {
  std::vector<ClassTemplate> classes;
  std::vector<FoldedGroup> groups;
};

Program make_program(const Plan& plan, const FlowTable& flows, const Folding& folding);

}  // namespace windtunnel
