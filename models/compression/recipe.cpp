#include "models/compression/recipe.hpp"

namespace windtunnel {

double wire_bytes(const Recipe& recipe, const ReducingGroup& group) {
  double bytes = 0;
  for (const RecipeStep& step : recipe.steps) {
    const double members = step.hop == ReduceHop::node     ? group.per_node()
                           : step.hop == ReduceHop::across ? group.nodes
                                                           : group.ranks;
    const double passes = step.kind == CollectiveKind::all_reduce ? 2 : 1;
    bytes += passes * (members - 1) / members * step.bytes;
  }
  return bytes;
}

}  // namespace windtunnel
