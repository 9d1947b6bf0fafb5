// What each rank spends a step on: its kernels and the communication inside of them first, then
// exchanges beside which no kernel of it runs, and the rest is its bubble. A collective counts from
// when the rank comes to it, so with what it waits there for others.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

struct RankParts {
  std::string rank;                           // name of its class: "pp 0"
  std::array<double, kCategories> seconds{};  // by Category, without the bubble
  // the rank runs nothing but copies of snapshots in the background: it waits for a message or for
  // the end of the step
  double bubble_s = 0;
};

// Has the first recorded rank of each class. The seconds and the bubble of a rank add up to
// iteration_s(): the reported iteration as simulated, before exchanges between islands and
// stragglers are added to it.
std::vector<RankParts> rank_parts(const Job& job, const Plan& plan, const Timeline& timeline);

}  // namespace windtunnel
