#include "models/cost/op/inner_round.hpp"

#include <algorithm>

namespace windtunnel {

Category axis_of(InnerGroup group) {
  switch (group) {
    case InnerGroup::tensor:
    case InnerGroup::mesh_row:
    case InnerGroup::mesh_column:
      return Category::tp;
    case InnerGroup::context_ring:
    case InnerGroup::context_exchange:
      return Category::cp;
    default:
      return Category::ep;
  }
}

double collectives_s(const std::vector<InnerCollective>& collectives) {
  double seconds = 0;
  for (const InnerCollective& collective : collectives) seconds += collective.seconds;
  return seconds;
}

double collectives_s(const InnerRound& round) {
  return collectives_s(round.collectives);
}

double covered_s(const InnerRound& round) {
  return std::min(collectives_s(round), (1 + round.slowdown) * round.beside_s);
}

double slowed_s(const InnerRound& round) {
  return covered_s(round) * round.slowdown / (1 + round.slowdown);
}

double exposed_s(const InnerRound& round) {
  return collectives_s(round) - covered_s(round) + slowed_s(round);
}

std::vector<InnerCollective> shares_of(std::vector<InnerCollective> collectives, double share) {
  for (InnerCollective& collective : collectives) {
    collective.bytes *= share;
    collective.seconds *= share;
    collective.transfer_s *= share;
    collective.kernels_s *= share;
  }
  return collectives;
}

}  // namespace windtunnel
