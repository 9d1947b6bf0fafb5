// Divides a rank's step into three: its kernels and the communication inside them; exchanges while
// none of its kernels runs; the rest, which is its bubble. A collective counts from when the rank
// reaches it, including the wait for other members.
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
  // the rank runs nothing, or only copies snapshots in the background: it waits for a message or
  // the end of the step
  double bubble_s = 0;
};

// One entry for the first recorded rank of each class. The seconds and bubble of a rank add up to
// iteration_s(): the reported iteration as simulated, without the time that exchanges between
// islands and stragglers add.
std::vector<RankParts> rank_parts(const Job& job, const Plan& plan, const Timeline& timeline);

}  // namespace windtunnel
