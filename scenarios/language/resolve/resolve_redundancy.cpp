// How a step tolerates stragglers, from checked values. Checks with other features:
// policies/conflicts/island_conflicts.cpp.
#include <fmt/format.h>

#include "models/compression/robust.hpp"
#include "models/plan/step_workers.hpp"
#include "models/reliability/stragglers/redundancy.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {

bool takes_key(RedundancyScheme scheme, std::string_view key) {
  const WaitForm form = traits_of(scheme).form;
  if (key == "burst" || key == "window" || key == "lambda") return form == WaitForm::window;
  if (key == "copies") return form == WaitForm::one_copy;
  if (key == "noise") return form == WaitForm::best_count;
  if (key == "stragglers") return form == WaitForm::all_but;
  return form != WaitForm::all && form != WaitForm::one_copy;  // the key is "tolerance"
}

void resolve_redundancy(const Values& values, Job& job) {
  const std::string path = "redundancy";
  if (!values.stated(path)) return;
  Redundancy own;
  values.fill(path, own);
  if (own.scheme == RedundancyScheme::none) return;
  for (const char* key :
       {"stragglers", "copies", "burst", "window", "lambda", "tolerance", "noise"}) {
    if (!values.stated(join_path(path, key)) || takes_key(own.scheme, key)) continue;
    values.fail(join_path(path, key), fmt::format("{} does not use it", name_of(own.scheme)));
  }
  job.redundancy = std::make_shared<const Redundancy>(own);
  // policies/conflicts refuses a single worker and explains it.
  const int workers = step_workers(job.layout);
  const std::string why = workers == 1 ? "" : why_not(own, workers);
  if (!why.empty()) values.fail(path, why);
}

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
