// Which of the sampled flows share a way with each other, in place of the flows that they share
// theirs with in truth and that are not simulated (sampled_fold.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/flow_routes.hpp"
#include "sim/engine/refinement.hpp"
#include "sim/engine/way_loads.hpp"

namespace windtunnel {

struct SharedWay {
  std::int32_t link = 0;  // one of those that it is made of
  double capacity = 0;
  struct Member {
    FlowIndex flow = 0;
    std::int32_t weight = 0;
  };
  std::vector<Member> flows;
};

// Each of the `sampled` flows on its slowest way, where routing chose one for it: with as many of
// its own kind as share that way in truth; where they are fewer, so is the capacity.
// `kinds`: of all flows.
std::vector<SharedWay> shared_ways(const std::vector<FlowIndex>& sampled,
                                   const std::vector<Colour>& kinds, const WayLoads& loads);

}  // namespace windtunnel
