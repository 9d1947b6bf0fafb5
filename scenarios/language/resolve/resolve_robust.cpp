// Robust aggregation from checked values. Checks with other features:
// policies/conflicts/exchange_conflicts.cpp.
#include <fmt/format.h>

#include "models/compression/robust.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {

bool takes_key(RobustRule rule, std::string_view key) {
  if (key == "iterations") return rule == RobustRule::flag;
  return rule != RobustRule::none;
}

void resolve_robust(const Values& values, Job& job) {
  const std::string path = "communication.robust";
  if (!values.stated(path)) return;
  RobustAggregation own;
  values.fill(path, own);
  if (own.rule == RobustRule::none) return;
  if (values.stated(path + ".iterations") && !takes_key(own.rule, "iterations")) {
    values.fail(path + ".iterations", fmt::format("{} has none", name_of(own.rule)));
  }
  job.communication.robust = std::make_shared<const RobustAggregation>(own);
}

}  // namespace windtunnel
